/** The first letter of a workspace's name, as its sign. Drawn by CSS: it is no part of a label. */
export function Initial({ name }: { name: string }) {
  return (
    <span
      aria-hidden="true"
      data-initial={[...name.trim()][0]?.toUpperCase() ?? '?'}
      className="grid size-5 shrink-0 place-items-center rounded bg-accent-soft text-xs font-semibold text-accent before:content-[attr(data-initial)]"
    />
  );
}

import { activeKeys } from '../keys/key-registry.ts';
import { Modal } from '../parts/dialog/dialog.tsx';
import { Keys } from '../parts/page/keys.tsx';

/** All keys that work on the page that is shown, by group. */
export function KeyList({ onClose }: { onClose: () => void }) {
  const groups = new Map<string, { keys: string; label: string }[]>();
  for (const { group, keys, label } of activeKeys()) {
    groups.set(group, [...(groups.get(group) ?? []), { keys, label }]);
  }
  return (
    <Modal open onOpenChange={onClose} title="Keys">
      <div className="grid gap-5">
        {[...groups].map(([group, rows]) => (
          <section key={group} className="grid gap-1">
            <h3 className="text-xs font-semibold text-muted">{group}</h3>
            <dl className="grid">
              {rows.map(({ keys, label }) => (
                <div key={keys} className="flex h-row-compact items-center justify-between gap-4">
                  <dt className="text-sm">{label}</dt>
                  <dd>
                    <Keys keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}

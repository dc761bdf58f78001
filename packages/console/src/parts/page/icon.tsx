import { createElement } from 'react';
import { classNames } from '../../class-names.ts';
import { iconShapes } from './icon-shapes.ts';

export type IconName = keyof typeof iconShapes;

/**
 * An icon by its name at lucide.dev, 16 pixels unless the class says more. It is decorative: the
 * word next to it, or the label of its button, carries the meaning.
 */
export function Icon({ name, className }: { name: IconName; className?: string }) {
  const shapes = iconShapes[name].map(([tag, attributes], index) =>
    // An icon never changes its shapes.
    createElement(tag, { key: index, ...attributes }),
  );
  return (
    <svg aria-hidden="true" viewBox="0 0 24 24" className={classNames('icon', className)}>
      {shapes}
    </svg>
  );
}

/** The logo: a signal arm and its lamp. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 32 32" width="24" height="24" className={className}>
      <rect x="1" y="1" width="30" height="30" rx="8" className="fill-accent-fill" />
      <path d="M10 26V7" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
      <path d="M10 9.5 23.5 6v7L10 12.5Z" fill="#fff" />
      <circle cx="19.5" cy="20" r="3.2" fill="#fff" />
    </svg>
  );
}

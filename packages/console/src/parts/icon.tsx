const paths = {
  alert: 'M8 5v3.5M8 11h.01M8 1.8 14.6 13.2H1.4Z',
  arrowLeft: 'M9.5 3.5 5 8l4.5 4.5M5.5 8H13',
  ban: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM3.7 3.7l8.6 8.6',
  check: 'M3 8.5 6.5 12 13 4.5',
  checkCircle: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM5.3 8.2 7.2 10l3.6-4',
  chevronDown: 'M4 6l4 4 4-4',
  chevronUpDown: 'M5 6l3-3 3 3M5 10l3 3 3-3',
  circle: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM8 4.8V8l2.2 1.4',
  copy: 'M6 5.5V3.2c0-.4.3-.7.7-.7h6c.4 0 .7.3.7.7v6c0 .4-.3.7-.7.7h-2.2M3.3 6h6c.4 0 .7.3.7.7v6c0 .4-.3.7-.7.7h-6a.7.7 0 0 1-.7-.7v-6c0-.4.3-.7.7-.7Z',
  crossCircle: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM6 6l4 4M10 6l-4 4',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  file: 'M4 1.8h5l3 3v9.4H4ZM8.8 2v3h3',
  hand: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM6.2 5.5v5M9.8 5.5v5',
  jobs: 'M2 4h2M2 8h2M2 12h2M6.5 4H14M6.5 8H14M6.5 12H14',
  monitor: 'M2 3h12v8H2ZM5.5 13.5h5M8 11v2.5',
  moon: 'M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7Z',
  output: 'M2 3h12v10H2ZM4.5 6l2 2-2 2M8.5 10h3',
  person:
    'M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2ZM2.8 14c.5-2.8 2.5-4.3 5.2-4.3s4.7 1.5 5.2 4.3',
  play: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM6.7 5.6v4.8L10.5 8Z',
  plus: 'M8 3v10M3 8h10',
  pulse: 'M1.5 8.5h3L6.5 4l3 8 2-3.5h3',
  recover: 'M2.5 8a5.5 5.5 0 1 0 1.7-4M2.5 2v2.8h2.8',
  signOut: 'M6 2.5H3v11h3M6.5 8H14M11 5l3 3-3 3',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M3 13l1.1-1.1M11.9 4.1 13 3',
} as const;

export type IconName = keyof typeof paths;

/** A decorative icon of 16 pixels; the word next to it carries the meaning. */
export function Icon({ name, className }: { name: IconName; className?: string }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      className={`shrink-0 ${className ?? ''}`}
    >
      <path d={paths[name]} />
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

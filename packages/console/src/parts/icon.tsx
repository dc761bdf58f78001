import {
  Activity,
  ArrowLeft,
  Ban,
  Check,
  ChevronDown,
  CircleCheck,
  CirclePause,
  CirclePlay,
  CircleX,
  Clock,
  Copy,
  Eye,
  FileText,
  type LucideIcon,
  Plus,
  RotateCcw,
  SquareTerminal,
  TriangleAlert,
} from 'lucide-react';

/** The signs of states and of parts that several pages share. */
const icons = {
  alert: TriangleAlert,
  arrowLeft: ArrowLeft,
  ban: Ban,
  check: Check,
  checkCircle: CircleCheck,
  chevronDown: ChevronDown,
  circle: Clock,
  copy: Copy,
  crossCircle: CircleX,
  eye: Eye,
  file: FileText,
  hand: CirclePause,
  output: SquareTerminal,
  play: CirclePlay,
  plus: Plus,
  pulse: Activity,
  recover: RotateCcw,
} as const satisfies Record<string, LucideIcon>;

export type IconName = keyof typeof icons;

/**
 * A shared sign by its name, 16 pixels and decorative: the word next to it carries the meaning. An
 * icon of one page is imported there from `lucide-react`; `styles.css` gives all the same look.
 */
export function Icon({ name, className }: { name: IconName; className?: string }) {
  const Sign = icons[name];
  return <Sign className={className ?? ''} />;
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

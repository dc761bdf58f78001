import type { ComponentProps } from 'react';
import { classNames } from '../../class-names.ts';

export type ButtonLook = 'primary' | 'plain' | 'danger' | 'quiet';

const looks: Readonly<Record<ButtonLook, string>> = {
  primary: 'bg-accent-fill text-white hover:brightness-110 border-transparent',
  plain: 'bg-surface text-ink hover:bg-hover border-control/60',
  danger: 'bg-danger-fill text-white hover:brightness-110 border-transparent',
  quiet: 'text-muted hover:text-ink hover:bg-hover border-transparent',
};

/** Classes of everything that looks like a button; on touch screens at least 44 pixels high. */
export function buttonClasses(look: ButtonLook = 'plain', className?: string): string {
  return classNames(
    'inline-flex h-8 items-center justify-center gap-1.5 rounded-md border px-3 text-sm font-medium',
    'whitespace-nowrap transition-colors pointer-coarse:h-11',
    'disabled:cursor-not-allowed disabled:opacity-60 aria-disabled:cursor-not-allowed aria-disabled:opacity-60',
    looks[look],
    className,
  );
}

export interface ButtonProps extends ComponentProps<'button'> {
  look?: ButtonLook;
  /** The action is running: the button is disabled, and screen readers announce it. */
  busy?: boolean;
}

export function Button({ look, busy = false, className, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      disabled={disabled || busy}
      className={buttonClasses(look, className)}
      {...rest}
    />
  );
}

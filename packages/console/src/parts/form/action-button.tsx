import { useId, useState } from 'react';
import { Button, type ButtonProps } from './button.tsx';

interface ActionButtonProps extends ButtonProps {
  /** Why the person may not do this now, in a sentence. The button stays, disabled. */
  disabledReason?: string | undefined;
}

/**
 * A button that stays visible when the person lacks the permission, with the reason. It keeps the
 * focus order; a press shows the reason below it, as touch screens have no hover.
 */
export function ActionButton({ disabledReason, onClick, ...rest }: ActionButtonProps) {
  const id = useId();
  const [isShown, setShown] = useState(false);
  if (disabledReason === undefined) return <Button onClick={onClick} {...rest} />;
  return (
    <span className="grid justify-items-start gap-1">
      <Button
        {...rest}
        aria-disabled="true"
        aria-describedby={id}
        title={disabledReason}
        onClick={(event) => {
          event.preventDefault();
          setShown(true);
        }}
      />
      <span id={id} role="status" className={isShown ? 'text-xs text-muted' : 'sr-only'}>
        {disabledReason}
      </span>
    </span>
  );
}

/** The reason for `ActionButton` where only owners and admins may act. */
export function adminReason(role: string): string | undefined {
  return role === 'owner' || role === 'admin'
    ? undefined
    : 'Only owners and admins may do this. Ask one of them.';
}

/** The reason for `ActionButton` where a viewer may read only. */
export function viewerReason(role: string): string | undefined {
  return role === 'viewer' ? 'Viewers can read only. Ask an owner for another role.' : undefined;
}

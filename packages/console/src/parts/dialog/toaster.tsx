import { Toast } from '@base-ui/react/toast';
import { useEffect } from 'react';
import { classNames } from '../../class-names.ts';
import { Icon } from '../page/icon.tsx';
import { onToast, TOAST_MS, takeToasts } from './toast.ts';

/** Shows messages at the lower right; on phones above the bottom bar. */
export function Toaster() {
  return (
    <Toast.Provider timeout={TOAST_MS} limit={3}>
      <Messages />
    </Toast.Provider>
  );
}

function Messages() {
  const { toasts, add, close } = Toast.useToastManager();
  useEffect(() => {
    const show = () => {
      for (const { title, detail, undo, tone = 'plain' } of takeToasts()) {
        const id: string = add({
          title,
          description: detail,
          type: tone,
          priority: tone === 'bad' ? 'high' : 'low',
          ...(undo && {
            actionProps: {
              children: 'Undo',
              onClick: () => {
                close(id);
                undo();
              },
            },
          }),
        });
      }
    };
    show();
    return onToast(show);
  }, [add, close]);
  return (
    <Toast.Portal>
      <Toast.Viewport className="fixed inset-x-3 bottom-[calc(var(--spacing-phone-bar)+2.5rem)] z-40 grid gap-2 sm:right-4 sm:left-auto sm:w-96 md:bottom-10">
        {toasts.map((toast) => (
          <Toast.Root
            key={toast.id}
            toast={toast}
            className={classNames(
              'rounded-lg border bg-raised shadow-popup transition-opacity',
              'data-ending-style:opacity-0 data-limited:hidden data-starting-style:opacity-0',
              toast.type === 'bad' && 'border-danger/40',
            )}
          >
            <Toast.Content className="flex items-center gap-2 py-2 pr-2 pl-3">
              <div className="min-w-0 grow text-sm">
                <Toast.Title className="font-medium wrap-anywhere" />
                <Toast.Description className="text-muted wrap-anywhere" />
              </div>
              <Toast.Action className="h-8 shrink-0 rounded-md px-2 text-sm font-medium text-accent hover:bg-hover pointer-coarse:h-11" />
              <Toast.Close
                aria-label="Close the message"
                className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink pointer-coarse:size-11"
              >
                <Icon name="x" />
              </Toast.Close>
            </Toast.Content>
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  );
}

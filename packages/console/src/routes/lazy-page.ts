import { lazyRouteComponent } from '@tanstack/react-router';
import { HubError } from '../api/hub-error.ts';

/**
 * A page whose code is loaded when it is first opened. The router reloads the window if code is
 * missing, which is right after an upgrade of the hub. While the hub is unreachable that would end
 * in the browser's own error page, so this fails like any other call instead.
 */
export function lazyPage<
  Module extends Record<string, unknown>,
  Name extends string & keyof Module,
>(load: () => Promise<Module>, name: Name) {
  const loadOrExplain = async () => {
    try {
      return await load();
    } catch (error) {
      // Any answer, even an error, shows that the hub is there and the code is not.
      await fetch('/favicon.svg', { cache: 'no-store' }).catch((cause) => {
        const advice =
          'The hub does not respond. Check that it is running and reachable from this machine.';
        throw new HubError('UNREACHABLE', advice, { cause });
      });
      throw error;
    }
  };
  return lazyRouteComponent(loadOrExplain, name);
}

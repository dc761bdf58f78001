import { type LiveMessage, LiveSource } from './live-source.ts';

/*
 * One stream of a workspace for all tabs of this browser: over HTTP/1.1 a browser opens six
 * connections to a host, so a stream in each tab would leave none for requests.
 */

interface SharedSource {
  source: LiveSource;
  ports: Set<MessagePort>;
}

const sources = new Map<string, SharedSource>();

self.addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  port?.addEventListener('message', ({ data }) => {
    const { url, after } = data as { url: string; after: string | null };
    if (after === null) leave(url, port);
    else join(url, after, port);
  });
  port?.start();
});

/** @param after the position of the changes before the first read of the tab. */
function join(url: string, after: string, port: MessagePort): void {
  let shared = sources.get(url);
  if (shared === undefined) {
    const ports = new Set<MessagePort>();
    const send = (message: LiveMessage) => {
      for (const each of ports) each.postMessage(message);
    };
    shared = { source: new LiveSource(url, after, send), ports };
    sources.set(url, shared);
  }
  shared.ports.add(port);
  port.postMessage({ type: 'state', state: shared.source.state });
  // Another tab joined before, and changes have come since this one began to read.
  if (shared.source.position !== after) port.postMessage({ type: 'reset' });
}

function leave(url: string, port: MessagePort): void {
  const shared = sources.get(url);
  shared?.ports.delete(port);
  if (shared === undefined || shared.ports.size > 0) return;
  shared.source.close();
  sources.delete(url);
}

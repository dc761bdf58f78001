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
    const { url, action } = data as { url: string; action: 'join' | 'leave' };
    if (action === 'join') join(url, port);
    else leave(url, port);
  });
  port?.start();
});

function join(url: string, port: MessagePort): void {
  let shared = sources.get(url);
  if (shared === undefined) {
    const ports = new Set<MessagePort>();
    const send = (message: LiveMessage) => {
      for (const each of ports) each.postMessage(message);
    };
    shared = { source: new LiveSource(url, send), ports };
    sources.set(url, shared);
  }
  shared.ports.add(port);
  // Another tab may have joined long ago: this one has read nothing yet that could be old.
  port.postMessage({ type: 'state', state: shared.source.state });
  port.postMessage({ type: 'reset' });
}

function leave(url: string, port: MessagePort): void {
  const shared = sources.get(url);
  shared?.ports.delete(port);
  if (shared === undefined || shared.ports.size > 0) return;
  shared.source.close();
  sources.delete(url);
}

import { isLoopback, type LinkAddress } from '@signalbox/hub';

/** Returns the notes that the operator needs about the address of a printed link, often none. */
export function explainAddress({ baseUrl, source }: LinkAddress): string[] {
  if (source === 'assumed') {
    return [
      `No running hub was found here, so the link assumes that it will listen on ${baseUrl}. ` +
        'If people reach it at another address, set --base-url or SVC_BASE_URL and run this again.',
    ];
  }
  if (!isLoopback(new URL(baseUrl).hostname.replace(/^\[|\]$/g, ''))) return [];
  return [
    `The link opens on this machine only (${baseUrl}). ` +
      'For other machines, set SVC_BASE_URL to the address at which they reach the hub.',
  ];
}

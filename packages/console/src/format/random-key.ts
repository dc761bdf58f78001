/**
 * A key that no other call has. `crypto.randomUUID` is missing where the page is served by plain
 * HTTP from another machine.
 */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

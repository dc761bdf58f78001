import { isIPv6 } from 'node:net';

/** Hextets of an IPv6 address that tell networks apart; the rest is chosen by the host itself. */
const NETWORK_HEXTETS = 4;
const HEXTETS = 8;

/**
 * The block of addresses that counts as one caller: an IPv4 address, or the /64 of an IPv6 address,
 * because one machine has all addresses of it.
 */
export function addressBlockOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [plain = ''] = address.toLowerCase().split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  // A tail in the form of IPv4 holds two hextets, which are not of the network.
  const missing = HEXTETS - left.length - right.length - (plain.includes('.') ? 1 : 0);
  const hextets = tail === undefined ? left : [...left, ...Array(missing).fill('0'), ...right];
  const network = hextets.slice(0, NETWORK_HEXTETS).map((hextet) => hextet.replace(/^0+(?=.)/, ''));
  return `${network.join(':')}::/64`;
}

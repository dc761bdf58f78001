import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/**
 * Which private hosts the hub may call (`SVC_ALLOW_PRIVATE_HOSTS`): all, or these host names, IP
 * addresses and ranges.
 */
export type PrivateHosts = 'all' | readonly string[];

/** An address that the hub may connect to. Its name was resolved once. */
interface OutboundAddress {
  /** An IP address. Connect to it, not to the name, which may resolve differently next time. */
  address: string;
  family: 4 | 6;
  /** Whether the hub may call it only because the operator allows it. */
  isPrivate: boolean;
}

/** The hub may not or cannot call a host. The message is a sentence for people. */
export class OutboundHostError extends Error {}

const familyNames = { 4: 'ipv4', 6: 'ipv6' } as const;

/**
 * Everything except the public internet: the special-purpose registries of IANA (RFC 6890),
 * multicast, and the IPv6 forms that embed an IPv4 address, which could smuggle in a private one.
 * For IPv4-mapped addresses (::ffff:0:0/96), BlockList checks the embedded address by itself.
 */
const privateRanges = createRanges([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  'fc00::/7',
  'fe80::/9',
  'ff00::/8',
]);

/** Whether an address is not public. Texts that are not addresses count as private. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family !== 4 && family !== 6) return true;
  return privateRanges.check(address, familyNames[family]);
}

/**
 * Resolves a host and checks that the hub may call it. A name with several addresses is refused if
 * any of them is private and not allowed, because the choice among them is arbitrary.
 *
 * @throws OutboundHostError
 */
export async function resolveOutboundHost(
  host: string,
  allowed: PrivateHosts,
): Promise<OutboundAddress> {
  const addresses = await lookUp(host);
  const first = addresses[0];
  if (first === undefined) throw new OutboundHostError(`The host ${host} has no address.`);
  const isPrivate = addresses.some(({ address }) => isPrivateAddress(address));
  const isAllowed = (address: string) =>
    !isPrivateAddress(address) || mayCallPrivately(host, address, allowed);
  if (!addresses.every(({ address }) => isAllowed(address))) {
    throw new OutboundHostError(
      `The host ${host} is private, and the hub may not call it: the operator can allow it with ` +
        'SVC_ALLOW_PRIVATE_HOSTS.',
    );
  }
  return { address: first.address, family: first.family, isPrivate };
}

async function lookUp(host: string): Promise<{ address: string; family: 4 | 6 }[]> {
  const family = isIP(host);
  if (family === 4 || family === 6) return [{ address: host, family }];
  try {
    const found = await lookup(host, { all: true, order: 'ipv4first' });
    // Node's type of the family is number, but it is 4 or 6.
    return found.map(({ address, family: found }) => ({ address, family: found as 4 | 6 }));
  } catch (error) {
    throw new OutboundHostError(`The host ${host} cannot be found.`, { cause: error });
  }
}

function mayCallPrivately(host: string, address: string, allowed: PrivateHosts): boolean {
  if (allowed === 'all') return true;
  if (allowed.some((entry) => entry.toLowerCase() === host.toLowerCase())) return true;
  const ranges = createRanges(allowed.filter(isAddressOrRange));
  return ranges.check(address, familyNames[isIP(address) === 6 ? 6 : 4]);
}

function createRanges(entries: readonly string[]): BlockList {
  const ranges = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = familyNames[isIP(address) === 6 ? 6 : 4];
    if (bits === undefined) ranges.addAddress(address, family);
    else ranges.addSubnet(address, Number(bits), family);
  }
  return ranges;
}

/** Whether a text is an IP address or a range: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`. */
export function isAddressOrRange(entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
  );
}

const hostName = /^[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9])?$/i;

/** Whether a text is a host name, an address or a range; for settings and forms. */
export function isHostEntry(entry: string): boolean {
  return isAddressOrRange(entry) || isHostName(entry);
}

/** Whether a text is a DNS name, or an IP address without brackets. */
export function isHostName(text: string): boolean {
  return (
    isIP(text) !== 0 || (hostName.test(text) && !text.includes('..') && !/^[\d.]+$/.test(text))
  );
}

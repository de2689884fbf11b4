import type { LookupAddress } from 'node:dns';
import { BlockList } from 'node:net';

/** What is not the public Internet: https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast. */
const reserved4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;
/**
 * Of IPv6 all but 2000::/3, and in that what leads to IPv4 addresses or to nobody. IPv4 addresses written as IPv6
 * ones, mapped or through NAT64, lie outside of it.
 */
const reserved6 = [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

/** Whether an address is one of the public Internet. */
export function isPublic({ address, family }: LookupAddress): boolean {
  // One list for each family: a BlockList finds IPv4 addresses in IPv6 ranges.
  const list = new BlockList();
  if (family === 4) for (const [net, prefix] of reserved4) list.addSubnet(net, prefix);
  else for (const [net, prefix] of reserved6) list.addSubnet(net, prefix, 'ipv6');
  return !list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Whether an address is this machine. */
export const isLoopback = ({ address, family }: LookupAddress): boolean =>
  family === 4 ? address.startsWith('127.') : address === '::1';

/** Whether the host of an address is one of the three names of this machine. */
export const namesLoopback = (host: string): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/i.test(host);

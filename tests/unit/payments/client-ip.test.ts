import { describe, expect, it } from 'vitest';
import { isInNetworks, resolveClientIp } from '../../../src/integrations/payments/yookassa/client-ip.ts';
import { YOOKASSA_NETWORKS } from '../../../src/integrations/payments/yookassa/connection.ts';

describe('client address behind proxies', () => {
  it.each([
    ['a tunnel address is no proxy', '2002:808:808::1', { 'x-forwarded-for': '185.71.76.1' }, '2002:808:808::1'],
    ['a public peer is believed, not its header', '8.8.8.8', { 'x-forwarded-for': '185.71.76.1' }, '8.8.8.8'],
    ['private peer: rightmost untrusted', '10.0.0.2', { 'x-forwarded-for': '185.71.76.1, 8.8.8.8' }, '8.8.8.8'],
    [
      'trusted proxies in the chain are skipped',
      '127.0.0.1',
      { 'x-forwarded-for': '185.71.76.1, 172.64.0.9, 10.1.1.1' },
      '185.71.76.1',
    ],
    ['mapped IPv4', '::ffff:10.0.0.2', { 'x-forwarded-for': '::ffff:185.71.77.5' }, '185.71.77.5'],
    ['real ip header when nothing forwarded', '192.168.1.1', { 'x-real-ip': '77.75.156.11' }, '77.75.156.11'],
    ['forwarded before real ip', '192.168.1.1', { 'x-forwarded-for': '8.8.8.8', 'x-real-ip': '185.71.76.1' }, '8.8.8.8'],
    ['CDN header behind the CDN', '173.245.48.9', { 'cf-connecting-ip': '2a02:5180::7' }, '2a02:5180::7'],
    ['own proxy network', '8.8.4.4', { 'x-forwarded-for': '185.71.76.3' }, '185.71.76.3'],
    ['no header: the peer', '127.0.0.1', {}, '127.0.0.1'],
    ['an unreadable entry stops the walk', '10.0.0.2', { 'x-forwarded-for': '185.71.76.1, nonsense' }, null],
    ['an unreadable peer', 'socket', { 'x-forwarded-for': '185.71.76.1' }, null],
  ])('%s', (_name, peer, headers, expected) => {
    expect(resolveClientIp(peer, headers, ['8.8.4.0/24'])).toBe(expected);
  });

  it.each([
    ['185.71.76.31', true],
    ['185.71.76.32', false],
    ['77.75.156.11', true],
    ['77.75.156.12', false],
    ['77.75.154.128', true],
    ['77.75.154.127', false],
    ['2a02:5180:1::1', true],
    ['2a02:5181::1', false],
    ['::ffff:185.71.77.9', true],
    ['not an address', false],
  ])('%s in the provider networks: %s', (ip, inside) => {
    expect(isInNetworks(ip, YOOKASSA_NETWORKS)).toBe(inside);
  });
});

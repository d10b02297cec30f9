import { describe, expect, it } from 'vitest';
import { loadEnv } from '../../../src/core/env.ts';
import { isInNetworks, resolveClientAddress } from '../../../src/integrations/payments/wire/client-address.ts';

/** The published networks, as the default of the environment has them. */
const YOOKASSA_NETWORKS = loadEnv({}).callbackNetworks.yookassa;
const PROXIES = ['10.0.0.0/8', '127.0.0.1', '8.8.4.0/24'];

describe('the address of a callback behind proxies (03a section 0.7)', () => {
  it.each([
    ['a public peer is believed, not its header', '8.8.8.8', '185.71.76.1', '8.8.8.8'],
    ['a private peer that is not configured too', '172.18.0.2', '185.71.76.1', '172.18.0.2'],
    ['a configured peer: rightmost other entry', '10.0.0.2', '185.71.76.1, 8.8.8.8', '8.8.8.8'],
    ['configured proxies in the chain are skipped', '127.0.0.1', '185.71.76.1, 10.2.2.2, 10.1.1.1', '185.71.76.1'],
    ['mapped IPv4', '::ffff:10.0.0.2', '::ffff:185.71.77.5', '185.71.77.5'],
    ['own proxy network', '8.8.4.4', '185.71.76.3', '185.71.76.3'],
    ['no header: the peer', '127.0.0.1', undefined, '127.0.0.1'],
    ['an unreadable entry stops the walk', '10.0.0.2', '185.71.76.1, nonsense', null],
    ['an unreadable peer', 'socket', '185.71.76.1', null],
  ])('%s', (_name, peer, forwardedFor, expected) => {
    expect(resolveClientAddress(peer, { 'x-forwarded-for': forwardedFor }, PROXIES)).toBe(expected);
  });

  it('without configured proxies the peer alone counts', () => {
    expect(resolveClientAddress('127.0.0.1', { 'x-forwarded-for': '185.71.76.1' }, [])).toBe('127.0.0.1');
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

import { describe, expect, it } from 'vitest';
import { clientIp } from '../../../../src/core/http/client-ip.ts';

const PROXIES = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'];

describe('clientIp', () => {
  it.each([
    ['a peer that is no proxy, whatever it claims', '5.5.5.5', '1.1.1.1', '2.2.2.2', '5.5.5.5'],
    ['the only element', '10.0.0.1', '1.1.1.1', undefined, '1.1.1.1'],
    ['the right-most element, not the invented first one', '10.0.0.1', '6.6.6.6, 1.1.1.1', undefined, '1.1.1.1'],
    ['the right-most element that is no proxy', '10.0.0.1', '6.6.6.6, 1.1.1.1, 10.2.3.4, 192.0.2.7', undefined, '1.1.1.1'],
    ['an address outside the ranges', '10.0.0.1', '1.1.1.1, 192.0.2.8', undefined, '192.0.2.8'],
    ['X-Forwarded-For before X-Real-IP', '10.0.0.1', '1.1.1.1', '2.2.2.2', '1.1.1.1'],
    ['X-Real-IP without X-Forwarded-For', '10.0.0.1', undefined, '2.2.2.2', '2.2.2.2'],
    ['X-Real-IP when all elements are proxies', '10.0.0.1', '10.0.0.9, 10.0.0.8', '2.2.2.2', '2.2.2.2'],
    ['X-Real-IP when the last element is garbage', '10.0.0.1', '1.1.1.1, unknown', '2.2.2.2', '2.2.2.2'],
    ['the peer when nothing is usable', '10.0.0.1', 'unknown', 'nobody', '10.0.0.1'],
    ['the peer when all elements are proxies', '10.0.0.1', '10.0.0.9', undefined, '10.0.0.1'],
    ['the peer with empty headers', '10.0.0.1', '', '', '10.0.0.1'],
    ['a proxy over a mapped socket address', '::ffff:10.0.0.1', '1.1.1.1', undefined, '1.1.1.1'],
    ['a mapped peer in plain form', '::ffff:5.5.5.5', undefined, undefined, '5.5.5.5'],
    ['IPv6 in short form', '2001:db8::5', '2A00:1450:0:0:0:0:0:1', undefined, '2a00:1450::1'],
    ['ports left out', '10.0.0.1', '1.1.1.1:5555', undefined, '1.1.1.1'],
    ['IPv6 ports left out', '10.0.0.1', '[2a00:1450::1]:443', undefined, '2a00:1450::1'],
    ['a zone left out', 'fe80::1%eth0', undefined, undefined, 'fe80::1'],
    ['no octal or short spellings', '10.0.0.1', '0177.0.0.1', '127.1', '10.0.0.1'],
  ])('takes %s', (_name, peer, forwardedFor, realIp, expected) => {
    expect(clientIp({ peer, forwardedFor, realIp }, PROXIES)).toBe(expected);
  });

  it('reads repeated headers as one list', () => {
    expect(clientIp({ peer: '10.0.0.1', forwardedFor: ['6.6.6.6', '1.1.1.1, 10.0.0.2'] }, PROXIES)).toBe('1.1.1.1');
  });

  it('ignores the headers when no proxy is trusted', () => {
    expect(clientIp({ peer: '127.0.0.1', forwardedFor: '1.1.1.1', realIp: '1.1.1.1' }, [])).toBe('127.0.0.1');
  });

  it('has no answer without a peer', () => {
    expect(clientIp({ peer: undefined, forwardedFor: '1.1.1.1' }, PROXIES)).toBeNull();
    expect(clientIp({ peer: '' }, PROXIES)).toBeNull();
  });
});

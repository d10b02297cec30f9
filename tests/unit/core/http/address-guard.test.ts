import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  assertAllowedUrl,
  BlockedAddressError,
  createGuardedLookup,
  isPublicAddress,
  type ResolvedAddress,
} from '../../../../src/core/http/address-guard.ts';

describe('isPublicAddress', () => {
  it.each([
    '1.1.1.1',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '2a00:1450:4010:c0e::71',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
    '2002:101:101::1',
  ])('opens %s', (ip) => {
    expect(isPublicAddress(ip)).toBe(true);
  });

  it.each([
    // private, loopback, link-local, unspecified, CGNAT
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '0.1.2.3',
    '169.254.0.1',
    '100.64.0.1',
    '100.127.255.255',
    // metadata
    '169.254.169.254',
    '168.63.129.16',
    '100.100.100.200',
    'fd00:ec2::254',
    // multicast, broadcast, reserved, benchmark, documentation
    '224.0.0.1',
    '239.255.255.250',
    '255.255.255.255',
    '240.0.0.1',
    '192.0.0.8',
    '198.18.0.1',
    '198.19.255.255',
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.9',
    '192.88.99.1',
    // the same in IPv6
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '2001:2::1',
    '2001:10::1',
    '5f00::1',
    '4000::1',
    // IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:a00:1',
    '::ffff:169.254.169.254',
    '::127.0.0.1',
    '::1.1.1.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1.1.1.1',
    '2002:7f00:1::1',
    '2002:c0a8:101::1',
    '2001:0:4136:e378:8000:63bf:f5ff:fffe',
    '2001:0:7f00:1::fefe:fefe',
    '2a00:1450::5efe:10.0.0.1',
    '2a00:1450::200:5efe:127.0.0.1',
    // no address at all
    '',
    'localhost',
    '1.1.1.1/24',
    '300.1.1.1',
  ])('refuses %s', (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  it('treats an IPv4 address and its mapped form alike', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        expect(isPublicAddress(`::ffff:${ip}`)).toBe(isPublicAddress(ip));
        expect(isPublicAddress(`64:ff9b::${ip}`)).toBe(isPublicAddress(ip));
      }),
    );
  });
});

describe('assertAllowedUrl', () => {
  const reasonFor = (url: string, allowed: string[] = []): string => {
    try {
      assertAllowedUrl(url, allowed);
      return 'allowed';
    } catch (error) {
      if (error instanceof BlockedAddressError) return error.reason;
      throw error;
    }
  };

  it.each([
    ['https://example.org/hook?x=1', 'allowed'],
    ['http://93.184.216.34:8080/', 'allowed'],
    ['https://xn--e1afmkfd.xn--p1ai/', 'allowed'],
    ['hello', 'invalid_url'],
    ['', 'invalid_url'],
    ['//example.org/', 'invalid_url'],
    ['http://', 'invalid_url'],
    ['ftp://example.org/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['data:text/plain,hello', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['https://user:pass@example.org/', 'credentials'],
    ['https://user@example.org/', 'credentials'],
    ['http://localhost/', 'private_host'],
    ['http://LOCALHOST./', 'private_host'],
    ['http://api.localhost/', 'private_host'],
    ['http://panel/', 'private_host'],
    ['http://db.internal/', 'private_host'],
    ['http://printer.local/', 'private_host'],
    ['http://127.0.0.1/', 'private_host'],
    ['http://127.1/', 'private_host'],
    ['http://127.0.0.1./', 'private_host'],
    ['http://2130706433/', 'private_host'],
    ['http://0x7f000001/', 'private_host'],
    ['http://0x7f.1/', 'private_host'],
    ['http://0177.0.0.1/', 'private_host'],
    ['http://017700000001/', 'private_host'],
    ['http://0/', 'private_host'],
    ['http://%31%32%37.0.0.1/', 'private_host'],
    ['http://１２７.０.０.１/', 'private_host'],
    ['http://[::1]/', 'private_host'],
    ['http://[::ffff:127.0.0.1]/', 'private_host'],
    ['http://[::ffff:7f00:1]/', 'private_host'],
    ['http://[0:0:0:0:0:ffff:7f00:0001]/', 'private_host'],
    ['http://[64:ff9b::a00:1]/', 'private_host'],
    ['http://169.254.169.254/latest/meta-data', 'private_host'],
    ['http://[fd00:ec2::254]/', 'private_host'],
  ])('%s → %s', (url, expected) => {
    expect(reasonFor(url)).toBe(expected);
  });

  it('opens hosts by name, and only those', () => {
    const allowed = ['127.0.0.1', 'localhost', '::1'];
    expect(reasonFor('http://localhost:9000/', allowed)).toBe('allowed');
    expect(reasonFor('http://127.0.0.1:9000/', allowed)).toBe('allowed');
    expect(reasonFor('http://[::1]/', allowed)).toBe('allowed');
    expect(reasonFor('http://127.0.0.2/', allowed)).toBe('private_host');
    expect(reasonFor('http://panel/', allowed)).toBe('private_host');
    expect(reasonFor('ftp://localhost/', allowed)).toBe('scheme');
  });
});

describe('createGuardedLookup', () => {
  const lookupWith = (addresses: ResolvedAddress[], allowedPrivateHosts: string[] = []) =>
    createGuardedLookup({ allowedPrivateHosts, resolve: async () => addresses });
  const all = async (lookup: ReturnType<typeof createGuardedLookup>, host: string, family: number | 'IPv4' | 'IPv6' = 0) =>
    await promisify<string, object, unknown>((name, options, done) => lookup(name, options, done as never))(host, {
      all: true,
      family,
    });

  const open = { address: '93.184.216.34', family: 4 };
  const openV6 = { address: '2606:4700:4700::1111', family: 6 };
  const inside = { address: '10.0.0.5', family: 4 };

  it('passes public answers in both callback forms', async () => {
    expect(await all(lookupWith([open, openV6]), 'example.org')).toEqual([open, openV6]);
    expect(await all(lookupWith([open, openV6]), 'example.org', 6)).toEqual([openV6]);
    expect(await all(lookupWith([open, openV6]), 'example.org', 'IPv4')).toEqual([open]);
    const single = await new Promise((resolve) => {
      lookupWith([open])('example.org', {}, (error, address, family) => resolve({ error, address, family }));
    });
    expect(single).toEqual({ error: null, address: '93.184.216.34', family: 4 });
  });

  it('refuses a name with any private answer, also of the family that was not asked for', async () => {
    await expect(all(lookupWith([inside]), 'example.org')).rejects.toMatchObject({ reason: 'private_address', code: 'EBLOCKED' });
    await expect(all(lookupWith([open, inside]), 'example.org')).rejects.toBeInstanceOf(BlockedAddressError);
    await expect(all(lookupWith([openV6, inside]), 'example.org', 6)).rejects.toBeInstanceOf(BlockedAddressError);
    await expect(all(lookupWith([{ address: '::ffff:10.0.0.5', family: 6 }]), 'example.org')).rejects.toBeInstanceOf(
      BlockedAddressError,
    );
  });

  it('opens a named host, not the address it leads to under another name', async () => {
    const lookup = lookupWith([inside], ['Hooks.Test', '10.0.0.5']);
    expect(await all(lookup, 'hooks.test.')).toEqual([inside]);
    await expect(all(lookup, 'evil.example.org')).rejects.toBeInstanceOf(BlockedAddressError);
  });

  it('reports a name without an address and a failing resolver', async () => {
    await expect(all(lookupWith([]), 'example.org')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    const failing = createGuardedLookup({ allowedPrivateHosts: [], resolve: () => Promise.reject(new Error('no resolver')) });
    await expect(all(failing, 'example.org')).rejects.toThrow('no resolver');
  });
});

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createHttpClient } from '../../../src/core/http/outbound.ts';
import {
  exchangeRatePort,
  RATE_HTTP_OPTIONS,
  readDailyRates,
  readRate,
} from '../../../src/integrations/central-bank/rate-port.ts';

interface Vector {
  provider: string;
  id: string;
  input: string;
  expected: string;
}

const { vectors } = JSON.parse(readFileSync('docs/spec/vectors/provider-vectors.json', 'utf8')) as { vectors: Vector[] };
const valute = (code: string, nominal: string, value: string) =>
  `<Valute ID="R1"><NumCode>840</NumCode><CharCode>${code}</CharCode><Nominal>${nominal}</Nominal><Name>Доллар США</Name><Value>${value}</Value></Valute>`;
const list = (...items: string[]) =>
  `<?xml version="1.0" encoding="windows-1251"?><ValCurs Date="03.10.2026" name="Foreign Currency Market">${items.join('')}</ValCurs>`;

describe('a rate', () => {
  const rateVectors = vectors.filter(({ provider }) => provider === 'rate');
  test('has vectors', () => expect(rateVectors.map(({ id }) => id)).toEqual(['rate.usd', 'rate.kzt-100']));
  test.each(rateVectors)('$id', ({ input, expected }) => expect(readRate(input)).toBe(expected));

  test('is exact for 10,000 units', () => expect(readRate(valute('UZS', '10000', '67,3456'))).toBe('0.00673456'));

  test.each([
    ['92.1234', '1'],
    ['-1,0', '1'],
    ['1e3', '1'],
    ['0,0000', '1'],
    ['92,1234', '0'],
    ['&#57;,1', '1'],
    ['', '1'],
  ])('with value %s of %s units is refused', (value, nominal) => {
    expect(() => readRate(valute('USD', nominal, value))).toThrow(/^a rate (?:is zero|has no usable)/);
  });
});

describe('the daily list', () => {
  test('has its day and all currencies', () => {
    const { setOn, rates } = readDailyRates(list(valute('USD', '1', '92,1234'), valute('KZT', '100', '17,2500')));
    expect(setOn).toEqual(new Date('2026-10-03T00:00:00.000Z'));
    expect([...rates]).toEqual([
      ['USD', '92.1234'],
      ['KZT', '0.1725'],
    ]);
  });

  test.each([
    ['cut', list(valute('USD', '1', '92,1')).slice(0, -10), 'no complete list'],
    ['empty', list(), 'no rates or no day'],
    ['a page', '<html>Error</html>', 'no complete list'],
    [
      'with a document type',
      list(valute('USD', '1', '92,1')).replace('<ValCurs', '<!DOCTYPE x [<!ENTITY a "b">]><ValCurs'),
      'no complete list',
    ],
    ['with a broken rate', list(valute('USD', '1', '92,1'), valute('EUR', '1', 'N/A')), 'no usable'],
  ])('that is %s is refused as a whole', (_what, xml, reason) => expect(() => readDailyRates(xml)).toThrow(reason));

  test('is read over HTTP as windows-1251', async () => {
    // The bytes of "Доллар" in windows-1251 are no UTF-8.
    const [head, tail] = list(valute('USD', '1', '92,1234')).split('Доллар США');
    const bytes = Buffer.concat([Buffer.from(head!), Buffer.from([0xc4, 0xee, 0xeb, 0xeb, 0xe0, 0xf0]), Buffer.from(tail!)]);
    const server = createServer((_request, response) => response.end(bytes)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      const http = createHttpClient(RATE_HTTP_OPTIONS);
      expect((await http.request({ method: 'GET', url })).text).toContain('Доллар');
      expect((await exchangeRatePort(http, url).fetchRates()).rates.get('USD')).toBe('92.1234');
    } finally {
      server.close();
    }
  });
});

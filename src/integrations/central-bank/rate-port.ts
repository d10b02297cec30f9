import type { HttpClient } from '../../core/http/http-client.ts';
import { createHttpClient, type HttpClientDeps } from '../../core/http/outbound.ts';
import type { ExchangeRatePort, OfficialRates } from '../../domain/exchange-rate/ports.ts';

const URL = 'https://www.cbr.ru/scripts/XML_daily.asp';
/** The list is encoded in windows-1251. */
export const RATE_HTTP_OPTIONS = {
  ...{ system: 'central_bank', totalTimeoutMs: 20_000, retries: 0, breakerThreshold: 0 },
  ...{ maxResponseBytes: 512 * 1024, encoding: 'windows-1251' },
};

export function createExchangeRatePort(deps: HttpClientDeps): ExchangeRatePort {
  return exchangeRatePort(createHttpClient(RATE_HTTP_OPTIONS, deps));
}

/** @param http built with `RATE_HTTP_OPTIONS` */
export function exchangeRatePort(http: HttpClient, url = URL): ExchangeRatePort {
  return {
    fetchRates: async () => {
      const { status, text } = await http.request({ method: 'GET', url, headers: { accept: 'application/xml' } });
      if (status !== 200) throw new Error(`the central bank answered ${status}`);
      return readDailyRates(text);
    },
  };
}

/** Decimals of a rate for one unit: the prices are for up to 10,000 units and have four. */
const SCALE = 10;

const DATE = /<ValCurs\b[^>]*\bDate="(\d{2})\.(\d{2})\.(\d{4})"/;
const VALUTE = /<Valute\b[^>]*>([\s\S]*?)<\/Valute>/g;

/**
 * Reads the central bank's daily list (spec 03a section 16): `ValCurs[Date]` with `Valute` elements, of which `CharCode`, `Nominal` and `Value`
 * (decimal comma) are read. No general XML is read: a document with a DOCTYPE or entities in these elements is refused.
 * @throws Error where anything of it has another form, so that half of a list is never stored
 */
export function readDailyRates(xml: string): OfficialRates {
  const date = DATE.exec(xml);
  if (!date || /<!DOCTYPE/i.test(xml) || !/<\/ValCurs>\s*$/.test(xml)) throw new Error('the answer is no complete list of rates');
  const [, day, month, year] = date;
  const setOn = new Date(`${year}-${month}-${day}T00:00:00.000Z`);
  const rates = new Map(
    [...xml.matchAll(VALUTE)].map(([, valute]) => [textOf(valute!, 'CharCode', /^[A-Z]{3}$/), readRate(valute!)]),
  );
  if (rates.size === 0 || Number.isNaN(setOn.getTime())) throw new Error('the list of rates has no rates or no day');
  return { setOn, rates };
}

/** Rubles for one unit of a `Valute` element, exact, without zeros at the end. @throws Error for another form */
export function readRate(valute: string): string {
  const nominal = BigInt(textOf(valute, 'Nominal', /^[1-9]\d{0,6}$/));
  const [whole, fraction = ''] = textOf(valute, 'Value', /^\d{1,9}(?:,\d{1,6})?$/).split(',');
  const scaled = BigInt(`${whole}${fraction.padEnd(SCALE, '0')}`);
  if (scaled === 0n) throw new Error('a rate is zero');
  const digits = ((scaled + nominal / 2n) / nominal).toString().padStart(SCALE + 1, '0');
  return `${digits.slice(0, -SCALE)}.${digits.slice(-SCALE)}`.replace(/\.?0+$/, '');
}

function textOf(element: string, name: string, form: RegExp): string {
  const text = new RegExp(`<${name}>([^<&]*)</${name}>`).exec(element)?.[1]?.trim() ?? '';
  if (!form.test(text)) throw new Error(`a rate has no usable ${name}`);
  return text;
}

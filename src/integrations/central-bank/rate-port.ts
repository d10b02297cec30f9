import type { HttpClient } from '../../core/http/http-client.ts';
import { createHttpClient, type HttpClientDeps } from '../../core/http/outbound.ts';
import type { ExchangeRatePort } from '../../domain/exchange-rate/ports.ts';
import { readDailyRates } from './daily-rates.ts';

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

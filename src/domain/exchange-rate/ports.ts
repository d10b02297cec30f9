/** The official rates of the central bank (spec 03a section 16). */

/** Rates that were set for one day. */
export interface OfficialRates {
  /** 00:00 UTC of the day. */
  setOn: Date;
  /** Rubles for one unit as an exact decimal, by ISO 4217 code. */
  rates: ReadonlyMap<string, string>;
}

export interface ExchangeRatePort {
  /** @throws Error whose message says what was wrong with the answer */
  fetchRates(): Promise<OfficialRates>;
}

declare module '../../core/app.ts' {
  interface Ports {
    exchangeRates: ExchangeRatePort;
  }
}

import type { AddOnQuote } from '../../pricing/addons.ts';

/** What was taken off the price of an add-on; kopeks. Without a discount none of the fields is there. */
export interface AddOnDiscount {
  discountPercent?: number;
  discountKopeks?: number;
  /** The price before the discount. */
  basePriceKopeks?: number;
}

/** The fields of the discount of a quote. */
export function addOnDiscount(quote: AddOnQuote): AddOnDiscount {
  if (quote.discountKopeks <= 0) return {};
  return {
    discountPercent: quote.discountPercent,
    discountKopeks: quote.discountKopeks,
    basePriceKopeks: quote.originalKopeks,
  };
}

import { kopeksForStars, starsForKopeks } from '../../../src/domain/payments/stars-invoices.ts';
import { createMessengerPort } from '../../../src/integrations/messenger/messenger-port.ts';
import type { ProviderCase, Vector } from './provider-case.ts';

const HEADER = 'x-telegram-bot-api-secret-token';

/** The vectors of Stars (03a section 1), which arrive as updates of the messenger and have a table of their own (stars.test.ts). */
export const starsVectors: Pick<ProviderCase, 'method' | 'vector'> = {
  method: 'messenger_stars',
  vector: (vector) => (vector.id.includes('.price-') ? isPriced(vector) : isReceived(vector)),
};

function isPriced({ input, expected }: Vector): boolean {
  const { kopeks, rate_rub_per_star: rate } = input as { kopeks: number; rate_rub_per_star: string };
  const { stars, credit_kopeks: credit } = expected as { stars: number; credit_kopeks: number };
  // The kopeks that are stored are credited; the stars that are asked for are worth at least as much.
  return starsForKopeks(kopeks, rate) === stars && credit === kopeks && kopeksForStars(stars, rate) >= credit;
}

function isReceived({ keys, header_value: value }: Vector): boolean {
  const port = createMessengerPort({
    http: { request: () => Promise.reject(new Error('no call is made')) },
    connection: () => ({ baseUrl: '', token: 't', webhookSecret: keys.secret_token! }),
  });
  const headers = { [HEADER]: typeof value === 'string' ? value : undefined };
  return port.receiveUpdate({ headers, rawBody: Buffer.from('{"update_id":1}') }).accepted;
}

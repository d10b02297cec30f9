/** Requests of users and administrators, sent with one `Idempotency-Key` until they are answered. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, createRequester } from '../requester.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { WriteBook } from '../write-book.ts';

type Reply =
  // biome-ignore lint/suspicious/noExplicitAny: the drill reads whatever fields the documented answer has
  | { outcome: 'done'; body: any }
  | { outcome: 'refused'; status: number; body: string }
  /** The client has given up; the request may have been carried out. */
  | { outcome: 'unknown' };

interface ServiceRequest {
  /** Name in the report. */
  operation: string;
  path: string;
  userId: number;
  body?: object;
  /** Whether the drill provokes this refusal. */
  isProvoked?: (answer: Answer) => boolean;
}

export interface ServiceClient {
  /** Answers by operation. */
  readonly book: WriteBook;
  post(request: ServiceRequest): Promise<Reply>;
  /** From now on nothing is sent again. */
  giveUp(): void;
  close(): void;
}

const ANSWER_LIMIT_MS = 40_000;
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 500;
/** A key whose first request was killed between two transactions answers 409 for two minutes of service time. */
const MAX_CONFLICTS = 6;
/** How often a request is sent again after the provider has failed; the payer then leaves it. */
const MAX_OUTAGES = 2;
const PAYER_ADDRESS = '95.24.10.11';

export function createServiceClient(
  urls: readonly string[],
  tokenOf: (userId: number) => string,
  random: SeededRandom,
): ServiceClient {
  const requester = createRequester({ connections: 64, limitMs: ANSWER_LIMIT_MS });
  const book = new WriteBook();
  let isOver = false;
  const post = async ({ operation, path, userId, body, isProvoked = () => false }: ServiceRequest): Promise<Reply> => {
    const headers = {
      authorization: `Bearer ${tokenOf(userId)}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
      // Some providers ask for the payer's address, and take no private one.
      'x-forwarded-for': PAYER_ADDRESS,
    };
    let conflicts = 0;
    let outages = 0;
    for (;;) {
      const url = `${random.pick(urls)}${path}`;
      const answer = await requester.send({
        method: 'POST',
        url,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      book.count(operation, answer, isProvoked(answer));
      if (answer.status >= 200 && answer.status < 300) return { outcome: 'done', body: JSON.parse(answer.body) };
      if (answer.status === 502) outages += 1;
      if (!isAgain(answer) || outages > MAX_OUTAGES) return { outcome: 'refused', status: answer.status, body: answer.body };
      if (answer.status === 409) conflicts += 1;
      if (isOver || conflicts > MAX_CONFLICTS) return { outcome: 'unknown' };
      await wait(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
    }
  };
  return {
    book,
    post,
    giveUp: () => {
      isOver = true;
    },
    close: () => requester.close(),
  };
}

/** A conflict of its own text is a refusal; only the one of the key may be sent again. */
function isAgain({ status, body }: Answer): boolean {
  return [0, 429, 502, 503, 504].includes(status) || (status === 409 && body.includes('Idempotency-Key'));
}

/** One operation of the drill: who sends it, how it is sent again, and what must be there at the end. */
import { randomUUID } from 'node:crypto';
import { postMovement } from '../../../../../src/domain/ledger/post-movement.ts';
import { signTokens } from '../../bench/credentials.ts';
import type { Answer } from '../requester.ts';
import type { Books } from './books.ts';
import type { KillFixture } from './kill-fixture.ts';

/** `lost`: no answer, or one that asks to repeat; any other text: why it was refused. */
export type Outcome = 'done' | 'lost' | `refused: ${string}`;

/** One operation, which can be sent once more when its answer was lost. */
export interface Trial {
  send(): Promise<Outcome>;
  /** When everything is over. @param whole what the same operation left that was not killed; null = this is that one */
  violations(whole: Books | null): Promise<string[]>;
  books(): Promise<Books>;
}

/** Prepares everything that the operation needs. */
export type Operation = (fixture: KillFixture) => Promise<Trial>;

const TOKEN_HOURS = 24 * 365;
const FIRST_MESSENGER_ID = 7_300_000_000;
const PAYER_ADDRESS = '95.24.10.11';

export interface DrillUser {
  id: number;
  messengerId: number;
  token: string;
}

let users = 0;

export async function aUser({ app }: KillFixture, balanceKopeks: number): Promise<DrillUser> {
  users += 1;
  const messengerId = FIRST_MESSENGER_ID + users;
  const [row] = await app.db.sql<{ id: number }>(
    // Without the notice of a low balance, which comes by the clock.
    `INSERT INTO users (messenger_id, username, first_name, language, referral_code, promo_group_id, notification_settings, created_at, updated_at)
     VALUES ($1::bigint, $2, 'Drill', 'en', $2, (SELECT id FROM promo_groups WHERE is_default), '{"balance_low_enabled": false}',
       $3::timestamptz, $3::timestamptz) RETURNING id`,
    [messengerId, `drill${messengerId}`, app.clock.now()],
  );
  const { id } = row!;
  if (balanceKopeks > 0) {
    const contra = { kind: 'provider_clearing', provider: 'drill' } as const;
    const movement = { type: 'deposit', amountKopeks: balanceKopeks, paymentMethod: 'drill', description: 'drill' } as const;
    await postMovement(app, { userId: id, contra, ...movement });
  }
  return { id, messengerId, token: (await signTokens([id], TOKEN_HOURS)).get(id)! };
}

export function outcomeOf({ status, body }: Answer): Outcome {
  if (status >= 200 && status < 300) return 'done';
  const isAgain = [0, 429, 502, 503, 504].includes(status) || (status === 409 && body.includes('Idempotency-Key'));
  return isAgain ? 'lost' : `refused: ${status} ${body.slice(0, 300)}`;
}

/** A request of the user with one `Idempotency-Key`, however often it is sent. */
export function post(fixture: KillFixture, user: DrillUser, path: string, body: object): () => Promise<Answer> {
  const headers = {
    authorization: `Bearer ${user.token}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
    'x-forwarded-for': PAYER_ADDRESS,
  };
  return () =>
    fixture.requester.send({ method: 'POST', url: `${fixture.service.url}${path}`, headers, body: JSON.stringify(body) });
}

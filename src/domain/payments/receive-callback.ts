import { createHash } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { repeatWhenLost } from '../../core/db/repeat-lost.ts';
import { retried } from '../../core/db/retried.ts';
import { answerOrderCheck } from './answer-order-check.ts';
import { callbackProblem, limitAccepted, limitRefusals, storeUnsigned } from './callback-limits.ts';
import { insertCallback, type NewCallback } from './callback-repo.ts';
import type { CallbackReply, CallbackVerdict, ProviderCallback } from './ports.ts';
import { hasPayments } from './repo.ts';
import { storableHeaders } from './rules.ts';

const ROUTE_TRUST_MS = 30 * SECOND_MS;

/**
 * Receives a provider's request. The adapter verifies it; then it is stored as received, with its job in one statement, and only then
 * acknowledged. Nothing is credited here; the job asks the provider (spec 00, Outside effects). A repeat of a stored event is
 * acknowledged and dropped.
 * @param method id of the provider
 * @returns null when there is no such route: the provider has neither credentials nor payments (spec 00)
 */
export async function receiveProviderCallback(
  app: App,
  method: string,
  callback: ProviderCallback,
): Promise<CallbackReply | null> {
  const provider = app.ports.payments.byMethod(method);
  if (!provider || !(provider.hasCredentials() || (await hasStoredPayments(app, method)))) return null;
  const problem = callbackProblem(provider, callback);
  const verdict: CallbackVerdict = problem ? { accepted: false, reply: problem } : await provider.receiveCallback(callback);
  if (!verdict.accepted && verdict.check) return answerOrderCheck(app, method, verdict.check);
  if (!verdict.accepted) return limitRefusals(app, callback, verdict.reply);
  const refused = limitAccepted(app, callback);
  if (refused) return refused;
  const received: NewCallback = {
    provider: method,
    // Another body is another event: a broken or forged one that names the same payment must not make the genuine one a repeat.
    eventKey: `${verdict.eventKey}:${createHash('sha256').update(callback.rawBody).digest('hex').slice(0, 16)}`,
    reference: verdict.reference,
    body: callback.rawBody.toString('utf8'),
    subpath: callback.subpath,
    headers: storableHeaders(callback.headers),
    now: app.clock.now(),
  };
  if (verdict.isUnsigned) return storeUnsigned(app, callback, received, verdict.reply);
  await storeCallback(app, received);
  return verdict.reply;
}

/**
 * Stores an event once, with the job that processes it. Tried again, once, when the database session was cut: by its key an event that was
 * stored after all is found.
 */
export async function storeCallback(app: App, callback: NewCallback): Promise<void> {
  await repeatWhenLost(app, () => retried(app, () => insertCallback(app.db, callback, app.jobs.trace())));
  app.jobs.wake(['payments.callback']);
}

function hasStoredPayments(app: App, method: string): Promise<boolean> {
  return app.cache.read(`payments:stored:${method}`, ROUTE_TRUST_MS, () =>
    repeatWhenLost(app, () => hasPayments(app.db, method)),
  );
}

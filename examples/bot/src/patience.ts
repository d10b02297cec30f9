import { setTimeout as delay } from 'node:timers/promises';
import { HttpError, type Transformer } from 'grammy';

/** Longer than a restart of the service; then the person is asked to try later. */
const GIVE_UP_MS = 10 * 60_000;
const PAUSE_MS = 1_000;
/** Answers that say "later": too many requests, and a service or proxy that is not available. */
const LATER = [429, 502, 503, 504];

/**
 * `fetch` that waits for a service that is away, and repeats. Every change that this bot requests may be repeated: it has an
 * Idempotency-Key, or changes nothing the second time.
 */
export async function patientFetch(request: Request): Promise<Response> {
  const end = performance.now() + GIVE_UP_MS;
  while (true) {
    const response = await fetch(request.clone()).catch((error: unknown) => {
      if (performance.now() > end) throw error;
      return null;
    });
    if (response && (!(await isLater(response)) || performance.now() > end)) return response;
    await delay(response ? pauseOf(response) : PAUSE_MS);
  }
}

async function isLater(response: Response): Promise<boolean> {
  const { status } = response;
  // Maintenance lasts as long as the operator wants: the person reads the operator's sentence instead of waiting.
  if (status === 503) return !(await response.clone().text()).includes('"maintenance"');
  if (LATER.includes(status)) return true;
  // The first request with this key is still being processed: it may be that of a bot that was stopped in the middle.
  return status === 409 && (await response.clone().text()).includes('Idempotency-Key');
}

function pauseOf(response: Response): number {
  const seconds = Number(response.headers.get('retry-after'));
  return seconds > 0 ? seconds * 1_000 : PAUSE_MS;
}

/** The same for calls of the Bot API; grammY repeats `getUpdates` itself. */
export const patientApi: Transformer = async (call, method, payload, signal) => {
  if (method === 'getUpdates') return call(method, payload, signal);
  const end = performance.now() + GIVE_UP_MS;
  while (true) {
    try {
      const answer = await call(method, payload, signal);
      if (answer.ok || !LATER.includes(answer.error_code) || performance.now() > end) return answer;
      await delay((answer.parameters?.retry_after ?? 1) * 1_000);
    } catch (error) {
      if (!(error instanceof HttpError) || performance.now() > end) throw error;
      await delay(PAUSE_MS);
    }
  }
};

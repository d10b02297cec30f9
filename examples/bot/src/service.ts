import type { User } from 'grammy/types';
import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './generated/openapi.d.ts';
import { signInitData } from './init-data.ts';
import { patientFetch } from './patience.ts';
import type { Settings } from './settings.ts';

export type ServiceClient = Client<paths>;

/** Access tokens of persons who were active lately; the oldest are forgotten. */
const MAX_SESSIONS = 5_000;

/** What the service refused, with its sentence for people. */
export class Refusal extends Error {
  readonly status: number;
  /** Machine code, such as `insufficient_funds`; null where the refusal has none. */
  readonly code: string | null;
  readonly detail: unknown;

  constructor(status: number, detail: unknown) {
    const fields = typeof detail === 'object' && detail !== null ? (detail as { code?: string; message?: string }) : {};
    super(fields.message ?? (typeof detail === 'string' ? detail : `The service answered ${status}`));
    this.status = status;
    this.code = fields.code ?? null;
    this.detail = detail;
  }
}

/** The service does not accept updates from this bot. */
export class UpdateRefused extends Error {
  constructor(status: number) {
    super(`The service refused an update with ${status}: check WEBHOOK_SECRET_TOKEN`);
  }
}

/** The data of an answer. @throws Refusal */
export function dataOf<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.response.ok) return answer.data as T;
  throw new Refusal(answer.response.status, (answer.error as { detail?: unknown } | undefined)?.detail);
}

/** The service: with the API token for what belongs to the bot, and as a person for what only a signed-in person may do. */
export class Service {
  readonly web: ServiceClient;
  readonly #settings: Settings;
  readonly #sessions = new Map<number, Promise<string>>();

  constructor(settings: Settings) {
    this.#settings = settings;
    this.web = createClient<paths>({
      baseUrl: settings.serviceUrl,
      headers: { 'X-API-Key': settings.apiKey },
      fetch: patientFetch,
    });
  }

  /** The cabinet of a person. Signs in with the first request, and once more when the access token has expired. */
  cabinetOf(user: User): ServiceClient {
    const authorized = async (request: Request): Promise<Response> => {
      const token = await this.signIn(user);
      request.headers.set('authorization', `Bearer ${token}`);
      const response = await patientFetch(request);
      if (response.status !== 401) return response;
      this.#sessions.delete(user.id);
      request.headers.set('authorization', `Bearer ${await this.signIn(user)}`);
      return patientFetch(request);
    };
    return createClient<paths>({ baseUrl: this.#settings.serviceUrl, fetch: authorized });
  }

  /** Signs a person in; an unknown one gets an account. @param start what followed `/start`: a referral code or a campaign */
  signIn(user: User, start?: string): Promise<string> {
    const known = this.#sessions.get(user.id);
    if (known && start === undefined) return known;
    const session = this.#requestSession(user, start);
    this.#sessions.delete(user.id);
    this.#sessions.set(user.id, session);
    const oldest = this.#sessions.keys().next().value;
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    session.catch(() => this.#sessions.delete(user.id));
    return session;
  }

  async #requestSession(user: User, start: string | undefined): Promise<string> {
    const code = start !== undefined && /^[\w-]{1,32}$/.test(start) ? start : null;
    const answer = await this.web.POST('/cabinet/auth/messenger', {
      body: { init_data: signInitData(this.#settings.botToken, user), referral_code: code, campaign_slug: code },
    });
    return dataOf(answer).access_token;
  }

  /** Hands an update on unchanged: Stars, pre-checkouts, channel members and blocked bots are the service's. Until it is accepted. */
  async forward(update: unknown): Promise<void> {
    const response = await patientFetch(
      new Request(`${this.#settings.serviceUrl}/messenger-webhook`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': this.#settings.webhookSecret },
        body: JSON.stringify(update),
      }),
    );
    if (!response.ok) throw new UpdateRefused(response.status);
  }
}

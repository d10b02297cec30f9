import type { SettingsReader } from '../../../core/app.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../../../core/http/http-client.ts';
import { createHttpClient, type HttpClientDeps } from '../../../core/http/outbound.ts';
import {
  type ListedReceipt,
  ReceiptError,
  type ReceiptPort,
  type ReceiptService,
  type ReceiptSession,
} from '../../../domain/receipts/ports.ts';
import { callNalogo, readAnswer } from './nalogo-call.ts';
import { HEADERS, NalogoSignIn } from './nalogo-sign-in.ts';
import { Cancelled, cancelBody, Income, Incomes, incomeBody, incomesQuery, listedReceipt, PAGE_SIZE } from './nalogo-wire.ts';

export interface NalogoOptions {
  /** Sends each request once: the queue repeats, and a receipt that is sent twice is made twice. */
  http: HttpClient;
  /** Read on every call; null = receipts are off. */
  connection: () => NalogoConnection | null;
  configuredDeviceId: () => string | null;
  now: () => Date;
}

/** More pages of one day and a half around a payment are not read. */
const MAX_PAGES = 200;

/** The tax service by the settings, through `NALOGO_PROXY_URL` where one is set; in the sandbox its fake. */
export function createNalogoPort(
  parts: { settings: SettingsReader; fake: () => NalogoFake | null; now: () => Date },
  deps: HttpClientDeps,
): ReceiptPort {
  const { settings, fake, now } = parts;
  const proxy = () => (fake() ? null : settings.get('NALOGO_PROXY_URL'));
  return nalogoPort({
    http: createHttpClient({ system: 'nalogo', totalTimeoutMs: 30_000, retries: 0, breakerThreshold: 0, proxy }, deps),
    connection: () => nalogoConnection(settings, fake()),
    configuredDeviceId: () => settings.get('NALOGO_DEVICE_ID')?.trim() || null,
    now,
  });
}

export function nalogoPort(options: NalogoOptions): ReceiptPort {
  return {
    isConfigured: () => options.connection() !== null,
    configuredDeviceId: options.configuredDeviceId,
    open: (session) => new NalogoService(options, session),
    printUrl: (uuid) => {
      const connection = options.connection();
      return connection && `${connection.baseUrl}/receipt/${connection.inn}/${encodeURIComponent(uuid)}/print`;
    },
  };
}

class NalogoService implements ReceiptService {
  readonly #options: NalogoOptions;
  readonly #connection: NalogoConnection | null;
  readonly #signIn: NalogoSignIn | null;

  constructor(options: NalogoOptions, session: ReceiptSession) {
    const connection = options.connection();
    this.#options = options;
    this.#connection = connection;
    this.#signIn = connection && new NalogoSignIn({ http: options.http, connection, session, now: options.now });
  }

  async issue(draft: Parameters<ReceiptService['issue']>[0]): Promise<string> {
    const answer = await this.#call('POST', '/income', true, () => incomeBody(draft, this.#options.now()));
    return readAnswer(Income, answer, true).approvedReceiptUuid;
  }

  async listAround(operationAt: Date): Promise<ListedReceipt[]> {
    const found: ListedReceipt[] = [];
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer = await this.#call('GET', `/incomes?${incomesQuery(operationAt, page * PAGE_SIZE)}`, false);
      const { content } = readAnswer(Incomes, answer, false);
      found.push(...content.map(listedReceipt));
      if (content.length < PAGE_SIZE) return found;
    }
    throw new ReceiptError('not_sent', 'The tax service lists too many receipts of that day');
  }

  async cancel(uuid: string): Promise<void> {
    const answer = await this.#call('POST', '/cancel', true, () => cancelBody(uuid, this.#options.now()));
    readAnswer(Cancelled, answer, true);
  }

  /** Calls with a token; a refused token is renewed as `NalogoSignIn` says. A request that was answered with 401 was not carried out. */
  async #call(method: 'GET' | 'POST', path: string, isChange: boolean, body?: () => object): Promise<HttpResponse> {
    if (!this.#connection || !this.#signIn) throw new ReceiptError('not_configured', 'Receipts are off');
    let token = await this.#signIn.token();
    for (;;) {
      const request: HttpRequest = {
        method,
        url: `${this.#connection.baseUrl}${path}`,
        headers: { ...HEADERS, authorization: `Bearer ${token}` },
        ...(body ? { body: JSON.stringify(body()) } : {}),
      };
      const response = await callNalogo(this.#options.http, request, isChange);
      if (response.status !== 401) {
        this.#signIn.accepted();
        return response;
      }
      token = await this.#signIn.renew(token);
    }
  }
}

/** The account at the tax service. */
export interface NalogoConnection {
  /** No slash at the end. */
  baseUrl: string;
  inn: string;
  password: string;
}

const NALOGO_BASE_URL = 'https://lknpd.nalog.ru/api/v1';

/** Where the sandbox's fake is; its secret replaces the password. */
interface NalogoFake {
  baseUrl: string;
  secret: string;
}

export const SANDBOX_INN = '000000000000';

/**
 * Null while receipts are off or have no account.
 * @param fake the sandbox's; null = the real service, by the settings
 */
function nalogoConnection(settings: SettingsReader, fake: NalogoFake | null): NalogoConnection | null {
  if (!settings.get('NALOGO_ENABLED')) return null;
  if (fake) return { baseUrl: fake.baseUrl, inn: SANDBOX_INN, password: fake.secret };
  const [inn, password] = [settings.get('NALOGO_INN')?.trim() ?? '', settings.get('NALOGO_PASSWORD') ?? ''];
  return inn === '' || password === '' ? null : { baseUrl: NALOGO_BASE_URL, inn, password };
}

import { httpBatchLink, httpLink, type OperationContext, splitLink, TRPCClientError, TRPCUntypedClient } from '@trpc/client';
import type { AnyRouter } from '@trpc/server';
import { CabinetError, errorDetailOf } from './cabinet-error.ts';
import type { CallOptions } from './procedure-types.ts';
import type { Session } from './session.ts';

/** What types do not say at run time; the build reads it from the router's metadata. */
export interface ProcedureFacts {
  /** Paths of mutations that honour an `Idempotency-Key`. */
  idempotent: readonly string[];
  /** Paths that need no credential: their 401 refers to the input, never to the session. */
  open: readonly string[];
  /** Paths that begin a session and can be asked for a refresh token that rotates, since this client stores each new one. */
  signIn: readonly string[];
}

export interface ApiCallerOptions {
  baseUrl: string;
  session: Session;
  facts: ProcedureFacts;
  fetch: typeof fetch;
  timeoutMs: number;
  onFreshSignInRequired?: ProofPrompt;
}

/** What a user who is signed in shows to prove again who he is; exactly one of the two. */
export type Proof =
  | { password: string }
  | { init_data: string }
  | { code: string }
  | { recovery_code: string }
  | { passkey: { id: string; response: Record<string, unknown> } };

/**
 * Asks the user to prove again who he is, because an operation that cannot be undone needs a recent sign-in.
 * @returns null when he does not want to: the operation is refused
 */
export type ProofPrompt = (request: {
  /** How this user can prove it: `password`, `messenger`, or `totp`, `passkey`, `recovery_code`. Where it is empty, only another sign-in helps. */
  methods: readonly string[];
  /** Why the proof before was refused; null for the first. */
  refused: CabinetError | null;
}) => Promise<Proof | null>;

export type CallKind = 'query' | 'mutation';

/** The service accepts at most this many calls in one request. */
const MAX_BATCH = 20;
const MAX_URL_LENGTH = 4_000;
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 250;
const WRONG_PROOF = ['proof_invalid', 'second_factor_invalid'];
const PROVE = 'cabinet.freshSignIn.prove';

/** Passed from the call to the links and back. */
interface CallContext extends OperationContext {
  /** Set by the link: the token that the request was sent with. */
  accessToken: string | null;
  idempotencyKey: string | null;
}

/**
 * Calls procedures by path. Calls of one tick are sent in one request; each money mutation is sent alone, with its key. A refused
 * token is refreshed and the call sent once more; a call without an answer is repeated where that is safe.
 */
export class ApiCaller {
  readonly #options: ApiCallerOptions;
  readonly #idempotent: ReadonlySet<string>;
  readonly #open: ReadonlySet<string>;
  readonly #signIn: ReadonlySet<string>;
  readonly #client: TRPCUntypedClient<AnyRouter>;
  #proving: Promise<boolean> | null = null;

  constructor(options: ApiCallerOptions) {
    this.#options = options;
    this.#idempotent = new Set(options.facts.idempotent);
    this.#open = new Set(options.facts.open);
    this.#signIn = new Set(options.facts.signIn);
    const url = `${options.baseUrl}/trpc`;
    const fetchJson = onlyJson(options.fetch);
    const headers = (contexts: CallContext[]) => this.#headers(contexts);
    this.#client = new TRPCUntypedClient<AnyRouter>({
      links: [
        splitLink({
          condition: (operation) => (operation.context as CallContext).idempotencyKey !== null,
          true: httpLink({ url, fetch: fetchJson, headers: ({ op }) => headers([op.context as CallContext]) }),
          false: httpBatchLink({
            url,
            fetch: fetchJson,
            maxItems: MAX_BATCH,
            maxURLLength: MAX_URL_LENGTH,
            headers: ({ opList }) => headers(opList.map((operation) => operation.context as CallContext)),
          }),
        }),
      ],
    });
  }

  /** @throws CabinetError */
  async call(kind: CallKind, path: string, given: unknown, options: CallOptions = {}): Promise<unknown> {
    const input = this.#signIn.has(path) ? { rotate_refresh_token: true, ...(given as object) } : given;
    const idempotencyKey = this.#idempotent.has(path) ? (options.idempotencyKey ?? newIdempotencyKey()) : null;
    let mayRefresh = !this.#open.has(path);
    let mayProve = path !== PROVE;
    for (let attempt = 1; ; ) {
      const context: CallContext = { accessToken: null, idempotencyKey };
      try {
        return await this.#send(kind, path, input, context, options.signal);
      } catch (error) {
        if (!(error instanceof CabinetError)) throw error;
        if (error.status === 401 && mayRefresh && context.accessToken !== null) {
          mayRefresh = false;
          if ((await this.#options.session.refresh(context.accessToken)) === null) throw error;
        } else if (error.code === 'fresh_sign_in_required' && mayProve) {
          // With another token, which a call beside this one has got, it is sent again without a question.
          if ((await this.#options.session.tokens())?.accessToken !== context.accessToken) continue;
          mayProve = false;
          if (!(await this.#proveAgain(error))) throw error;
        } else if (
          error.isTransient &&
          error.code !== 'timeout' &&
          attempt < ATTEMPTS &&
          (kind === 'query' || idempotencyKey !== null)
        ) {
          await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random()), options.signal);
          attempt += 1;
        } else throw error;
      }
    }
  }

  /** Calls that are refused at the same time share one question. @returns false when the user did not prove it */
  #proveAgain(refusal: CabinetError): Promise<boolean> {
    this.#proving ??= this.#askForProof(refusal).finally(() => {
      this.#proving = null;
    });
    return this.#proving;
  }

  async #askForProof({ detail }: CabinetError): Promise<boolean> {
    const methods = typeof detail === 'object' && 'methods' in detail ? (detail.methods as string[]) : [];
    for (let refused: CabinetError | null = null; ; ) {
      const proof = (await this.#options.onFreshSignInRequired?.({ methods, refused })) ?? null;
      if (proof === null) return false;
      try {
        const { access_token } = (await this.call('mutation', PROVE, proof)) as { access_token: string };
        return await this.#options.session.replaceAccessToken(access_token);
      } catch (error) {
        if (!(error instanceof CabinetError) || !WRONG_PROOF.includes(error.code)) throw error;
        refused = error;
      }
    }
  }

  async #send(kind: CallKind, path: string, input: unknown, context: CallContext, signal?: AbortSignal): Promise<unknown> {
    const timeout = AbortSignal.timeout(this.#options.timeoutMs);
    const signals = signal ? [signal, timeout] : [timeout];
    try {
      return await this.#client[kind](path, input, { context, signal: AbortSignal.any(signals) });
    } catch (error) {
      throw cabinetErrorOf(error, context.idempotencyKey, { isAborted: signal?.aborted === true, isLate: timeout.aborted });
    }
  }

  async #headers(contexts: CallContext[]): Promise<Record<string, string>> {
    const tokens = await this.#options.session.tokens();
    for (const context of contexts) context.accessToken = tokens?.accessToken ?? null;
    const key = contexts[0]?.idempotencyKey ?? null;
    return {
      ...(tokens ? { authorization: `Bearer ${tokens.accessToken}` } : {}),
      ...(key === null ? {} : { 'idempotency-key': key }),
    };
  }
}

/** An answer that is not from the service, for example of a proxy that cannot reach it. */
class ForeignAnswer extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super(`Unexpected answer (HTTP ${response.status})`);
    this.response = response;
  }
}

function onlyJson(fetchAnswer: typeof fetch): typeof fetch {
  return async (...request) => {
    const response = await fetchAnswer(...request);
    if (!response.headers.get('content-type')?.includes('json')) throw new ForeignAnswer(response);
    return response;
  };
}

function cabinetErrorOf(
  error: unknown,
  idempotencyKey: string | null,
  end: { isAborted: boolean; isLate: boolean },
): CabinetError {
  const failed = (code: string, detail: string) => new CabinetError({ status: 0, code, detail, idempotencyKey, cause: error });
  if (end.isAborted) return failed('aborted', 'The call was given up');
  if (end.isLate) return failed('timeout', 'The service did not answer in time');
  if (!(error instanceof TRPCClientError)) return failed('network_error', 'The service did not answer');
  const foreign = error.cause instanceof ForeignAnswer ? error.cause : null;
  const response = foreign?.response ?? (error.meta?.response as Response | undefined);
  const data = error.data as { status?: unknown; appCode?: unknown; detail?: unknown } | undefined;
  const retryAfter = Number(response?.headers.get('retry-after') ?? Number.NaN);
  const facts = { retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null, idempotencyKey, cause: error };
  if (typeof data?.status === 'number') {
    return new CabinetError({
      ...facts,
      status: data.status,
      code: typeof data.appCode === 'string' ? data.appCode : '',
      detail: errorDetailOf(data.detail) ?? error.message,
    });
  }
  if (!response) return failed('network_error', 'The service did not answer');
  return new CabinetError({
    ...facts,
    status: response.status,
    code: 'bad_answer',
    detail: foreign?.message ?? error.message,
  });
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done);
  });
}

/** A UUID of version 4. `crypto.randomUUID` exists on secure pages only; random bytes exist on every page. */
/** A key for a call whose input and key are stored before it is sent; a UUID, also where the page was not loaded over HTTPS. */
export function newIdempotencyKey(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

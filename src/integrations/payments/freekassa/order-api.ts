import { createHash } from 'node:crypto';
import { ProviderError } from '../../../domain/payments/ports.ts';
import type { InTurn } from '../wire/in-turn.ts';
import { parseWireObject, textField, type WireObject } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { callProvider } from '../wire/provider-call.ts';
import { wireJson, wireNumber } from '../wire/write-json.ts';
import { orderSignature } from './signatures.ts';

/** The API that Freekassa and Kassa.ai share (03a sections 10 and 11), with the credentials of one shop. */
export interface OrderApi {
  /** Payment method, for errors and for the sequence of nonces. */
  method: 'freekassa' | 'kassa_ai';
  /** No slash at the end. */
  baseUrl: string;
  /** Decimal. */
  shopId: string;
  apiKey: string;
}

export type OrderAccess = Pick<ProviderAccess, 'http' | 'nextNonce'> & {
  /** Requests of one instance do not overtake each other; those of several may, and are sent again. */
  inTurn: InTurn;
};

/** A request that was overtaken by one with a higher nonce is refused without effect, and sent again with the next one. */
const NONCE_TRIES = 5;
/** Behind a request that the provider does not answer, others end with it and not one time-out after the other. */
const MAX_WAIT_MS = 10_000;

/** The sequence of nonces of a shop and key; a new key begins a new one. */
function nonceScope({ method, shopId, apiKey }: OrderApi): string {
  return `${method}:${shopId}:${createHash('sha256').update(apiKey).digest('hex').slice(0, 16)}`;
}

/**
 * Calls the API. Nothing is repeated after a lost answer (03a section 0.6): the nonce is used up, and a create has no protection.
 * @param fields without `shopId`, `nonce` and `signature`
 * @throws ProviderError `rejected` for an error of the provider; `unavailable` also when it goes on refusing our nonces
 */
export async function callOrderApi(
  { http, nextNonce, inTurn }: OrderAccess,
  api: OrderApi,
  path: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<WireObject> {
  const { method, baseUrl, apiKey } = api;
  for (let attempt = 1; attempt <= NONCE_TRIES; attempt++) {
    const { status, text } = await inTurn(async (waitedMs) => {
      if (waitedMs > MAX_WAIT_MS) throw new ProviderError(method, 'unavailable', 'The provider does not answer earlier requests');
      const nonce = wireNumber(String(await nextNonce(nonceScope(api))));
      const signed = { shopId: wireNumber(api.shopId), nonce, ...fields };
      return callProvider(http, method, {
        method: 'POST',
        url: `${baseUrl}${path}`,
        headers: { 'content-type': 'application/json' },
        body: wireJson({ ...signed, signature: orderSignature(signed, apiKey) }),
        idempotent: false,
      });
    });
    const answer = parseWireObject(text);
    const isSuccess = status >= 200 && status <= 299;
    if (isSuccess && answer && textField(answer, 'type') !== 'error') return answer;
    if (isSuccess && !answer)
      throw new ProviderError(method, 'unavailable', 'The provider answered with something that is no JSON object');
    if (!isNonceRefused(answer)) throw new ProviderError(method, 'rejected', `The provider refused the request (${status})`);
  }
  throw new ProviderError(
    method,
    'unavailable',
    `The provider refuses our nonces: let it issue a new API key, or set ${method.toUpperCase()}_NONCE_START above the last nonce of the software that used this key`,
  );
}

function isNonceRefused(answer: WireObject | null): boolean {
  return [textField(answer, 'message'), textField(answer, 'error')].some((message) => message !== null && /nonce/i.test(message));
}

import { type HttpClient, type HttpRequest, type HttpResponse, OutboundError } from '../../../core/http/http-client.ts';
import { ProviderError } from '../../../domain/payments/ports.ts';
import { parseWireObject, type WireObject } from './json.ts';

/**
 * Calls a provider. `idempotent` of the request says whether it may be sent again after a lost answer (03a section 0.6); a request that
 * certainly was not sent is repeated anyway.
 * @returns the answer, whatever its status below 500 is, except 429
 * @throws ProviderError `unavailable` when there is no answer, or one of 429 and 500 to 599
 */
export async function callProvider(http: HttpClient, method: string, request: HttpRequest): Promise<HttpResponse> {
  try {
    const response = await http.request(request);
    if (response.status >= 500 || response.status === 429) {
      throw new ProviderError(method, 'unavailable', `The provider answered ${response.status}`);
    }
    return response;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new ProviderError(method, 'unavailable', 'The provider did not answer', { cause: error });
  }
}

/**
 * `callProvider` for a provider that answers with a JSON object.
 * @throws ProviderError `rejected` for another status than 2xx, `unavailable` for an answer that is no JSON object
 */
export async function callJson(http: HttpClient, method: string, request: HttpRequest): Promise<WireObject> {
  const { status, text } = await callProvider(http, method, request);
  if (status < 200 || status > 299) throw new ProviderError(method, 'rejected', `The provider answered ${status}`);
  const answer = parseWireObject(text);
  if (!answer) throw new ProviderError(method, 'unavailable', 'The provider answered with something that is no JSON object');
  return answer;
}

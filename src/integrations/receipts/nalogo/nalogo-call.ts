import type { z } from 'zod';
import {
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
  isCertainlyUnsent,
  OutboundError,
} from '../../../core/http/http-client.ts';
import { ReceiptError } from '../../../domain/receipts/ports.ts';
import { Refusal } from './nalogo-wire.ts';

/**
 * Sends one request, without repeating it.
 * @param isChange whether it changes something at the service: then a lost answer is `unclear`
 * @returns an answer of 2xx, 401, or another 4xx that the service itself gave
 * @throws ReceiptError `not_sent` or `unclear`
 */
export async function callNalogo(http: HttpClient, request: HttpRequest, isChange: boolean): Promise<HttpResponse> {
  const lost = isChange ? 'unclear' : 'not_sent';
  let response: HttpResponse;
  try {
    response = await http.request({ ...request, idempotent: false });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new ReceiptError(isCertainlyUnsent(error) ? 'not_sent' : lost, 'The tax service did not answer', error);
  }
  const { status } = response;
  if (status >= 200 && status < 300) return response;
  if (status === 429) throw new ReceiptError('not_sent', 'The tax service answered 429');
  // A page of a gateway or of a firewall in front of the service: the service has not seen the request.
  const isRefusal = status >= 400 && status < 500 && status !== 408 && (status === 401 || refusalOf(response) !== null);
  if (isRefusal) return response;
  throw new ReceiptError(
    status >= 400 && status < 500 && status !== 408 ? 'not_sent' : lost,
    `The tax service answered ${status}`,
  );
}

/**
 * The answer as its schema says.
 * @throws ReceiptError `rejected` for a refused change; for a 2xx that is something else, such as a page, `unclear`; without a change `not_sent`
 */
export function readAnswer<Answer>(schema: z.ZodType<Answer>, response: HttpResponse, isChange: boolean): Answer {
  if (response.status >= 400) throw new ReceiptError(isChange ? 'rejected' : 'not_sent', describeRefusal(response));
  const answer = schema.safeParse(jsonOf(response.text));
  if (answer.success) return answer.data;
  throw new ReceiptError(isChange ? 'unclear' : 'not_sent', 'The tax service answered with something unknown');
}

/** The status and the service's code and message, which are about the receipt and not about the sign-in. */
export function describeRefusal(response: HttpResponse): string {
  const { code, message } = refusalOf(response) ?? {};
  return [`The tax service answered ${response.status}`, code, message].filter(Boolean).join(': ').slice(0, 400);
}

function refusalOf({ text }: HttpResponse): z.infer<typeof Refusal> | null {
  const json = jsonOf(text);
  const refusal = Refusal.safeParse(json);
  return refusal.success && (refusal.data.code != null || refusal.data.message != null) ? refusal.data : null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

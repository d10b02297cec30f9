/** Callbacks of the fake providers, which are posted when the drill says so, each until the service has acknowledged it. */
import type { HttpClient } from '../../../../sandbox/src/host-ports.ts';
import type { Answer, Requester } from '../requester.ts';

export interface CallbackBox extends HttpClient {
  /** Posts each that waits, once. @returns the answers that were no acknowledgement */
  post(serviceUrl: string): Promise<Answer[]>;
  /** Whether all were acknowledged. */
  isEmpty(): boolean;
  close(): void;
}

type Callback = Parameters<HttpClient['request']>[0];

export function createCallbackBox(requester: Requester): CallbackBox {
  const waiting = new Map<Callback, PromiseWithResolvers<{ status: number; text: string }>>();
  return {
    request: (callback) => {
      const answer = Promise.withResolvers<{ status: number; text: string }>();
      waiting.set(callback, answer);
      return answer.promise;
    },
    post: async (serviceUrl) => {
      const refused: Answer[] = [];
      for (const [callback, { resolve }] of [...waiting]) {
        const { url, headers, body } = callback;
        const answer = await requester.send({ method: 'POST', url: `${serviceUrl}${new URL(url).pathname}`, headers, body });
        if (answer.status < 200 || answer.status >= 300) {
          refused.push(answer);
          continue;
        }
        waiting.delete(callback);
        resolve({ status: answer.status, text: answer.body });
      }
      return refused;
    },
    isEmpty: () => waiting.size === 0,
    close: () => {
      for (const { reject } of waiting.values()) reject(new Error('the drill is over'));
      waiting.clear();
    },
  };
}

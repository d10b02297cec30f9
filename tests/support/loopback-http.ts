import type { SandboxStore } from '../../packages/sandbox/src/host-ports.ts';
import {
  type LoopbackReply,
  type LoopbackRequest,
  type LoopbackServer,
  startLoopbackServer,
} from '../../packages/sandbox/src/loopback-server.ts';
import { createHttpClient } from '../../src/core/http/outbound.ts';

/** The service's HTTP client without retries and circuit breaker, so that each call is sent once. */
export function onceHttp(system = 'test') {
  return createHttpClient({ system, retries: 0, breakerThreshold: 0 });
}

/** Stores JSON, not references, as a store in the database does. */
export function memoryStore(): SandboxStore {
  const values = new Map<string, string>();
  return {
    load: async (key) => JSON.parse(values.get(key) ?? 'null'),
    save: async (key, value) => void values.set(key, JSON.stringify(value)),
  };
}

export interface Recorder {
  server: LoopbackServer;
  requests: LoopbackRequest[];
}

/** A loopback server that records each request and answers with `answer`. */
export async function startRecorder(answer: (request: LoopbackRequest, count: number) => LoopbackReply): Promise<Recorder> {
  const requests: LoopbackRequest[] = [];
  const server = await startLoopbackServer(async (request) => {
    requests.push(request);
    return answer(request, requests.length);
  });
  return { server, requests };
}

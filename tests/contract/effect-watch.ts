/** Watches what a request sets in motion: handlers entered, calls to outside systems, rows changed. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { RestRoute } from '../../src/rest/route-table.ts';

type Step = (options: unknown) => unknown;

export interface EffectWatch {
  /** Procedure paths whose handler was entered, in order. */
  readonly handled: string[];
  /** Outbound HTTP requests, whoever makes them. */
  readonly outbound: string[];
  clear(): void;
  stop(): void;
}

/**
 * Puts a counter in front of the last step of every procedure's chain, which is its handler, and listens to Node's own report of
 * outgoing requests. Both doors run these very chains, so nothing enters a handler unseen.
 */
export function watchEffects(routes: readonly RestRoute[]): EffectWatch {
  const handled: string[] = [];
  const outbound: string[] = [];
  const restore = routes.map(({ procedure, procedurePath }) => {
    const steps = (procedure._def as unknown as { middlewares: Step[] }).middlewares;
    const last = steps.length - 1;
    const handler = steps[last]!;
    steps[last] = (options) => {
      handled.push(procedurePath);
      return handler(options);
    };
    return () => {
      steps[last] = handler;
    };
  });
  const onFetch = (message: unknown) => {
    const { request } = message as { request: { method: string; origin: string; path: string } };
    outbound.push(`${request.method} ${request.origin}${request.path}`);
  };
  const onHttp = (message: unknown) => {
    const { request } = message as { request: { method: string; host: string; path: string } };
    outbound.push(`${request.method} ${request.host}${request.path}`);
  };
  subscribe('undici:request:create', onFetch);
  subscribe('http.client.request.start', onHttp);
  return {
    handled,
    outbound,
    clear() {
      handled.length = 0;
      outbound.length = 0;
    },
    stop() {
      for (const undo of restore) undo();
      unsubscribe('undici:request:create', onFetch);
      unsubscribe('http.client.request.start', onHttp);
    },
  };
}

import type { z } from 'zod';
import type { AnswerContext } from './panel-answers.ts';
import type { Generation } from './panel-data.ts';
import type { PanelErrorEntry } from './panel-errors.ts';

export interface RouteRequest {
  context: AnswerContext;
  /** Decoded path parameters by name. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** The parsed body after the route's schema. */
  body: unknown;
  headers: Record<string, string | undefined>;
  path: string;
}

/** A body is wrapped in `{response}`; nothing means 204. */
export type RouteAnswer = { response: unknown; status?: number } | { status: 204 };

export interface PanelRoute {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Path pattern with `:name` parameters. */
  path: string;
  /** Served in one generation only. */
  only?: Generation;
  /** Schema of the body, checked before `handle`. */
  body?: z.ZodType;
  query?: z.ZodType;
  /** Converts a body of the older generation into the form of the newer one. @returns the body to check */
  adapt?: (body: unknown, request: Omit<RouteRequest, 'body'>) => unknown;
  handle(request: RouteRequest): RouteAnswer;
}

/** A refusal as the panel answers it. */
export class PanelRefusal extends Error {
  readonly entry: PanelErrorEntry;

  constructor(entry: PanelErrorEntry) {
    super(entry.message);
    this.entry = entry;
  }
}

/** The body failed its schema; answered as the panel does, 400 with zod's issues. */
export class BodyRefusal extends Error {
  readonly issues: readonly unknown[];

  constructor(issues: readonly unknown[]) {
    super('Validation failed');
    this.issues = issues;
  }
}

/** @throws BodyRefusal */
export function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new BodyRefusal(result.error.issues);
}

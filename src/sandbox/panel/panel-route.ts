import type { ERRORS } from '@remnawave/backend-contract';
import type { AnswerContext } from './panel-answers.ts';
import type { Generation } from './panel-data.ts';

/** The part of a zod schema that is used; the contract has its own copy of zod. */
export interface ContractSchema {
  safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: { issues: readonly unknown[] } };
}

export interface RouteRequest {
  context: AnswerContext;
  /** Decoded path parameters by name. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** The parsed body after the contract's schema. */
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
  /** The contract's schema of the body, checked before `handle`. */
  body?: ContractSchema;
  query?: ContractSchema;
  /** The contract's schema of the answer, for the conformity test. Absent where the contract has none. */
  answer?: ContractSchema;
  /** Converts a body of the older generation into the contract's form. @returns the body to check */
  adapt?: (body: unknown, request: Omit<RouteRequest, 'body'>) => unknown;
  handle(request: RouteRequest): RouteAnswer;
}

type ErrorEntry = Pick<(typeof ERRORS)[keyof typeof ERRORS], 'code' | 'message' | 'httpCode'>;

/** A refusal as the panel answers it. */
export class PanelRefusal extends Error {
  readonly entry: ErrorEntry;

  constructor(entry: ErrorEntry) {
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

export function checked(schema: ContractSchema, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new BodyRefusal(result.error.issues);
}

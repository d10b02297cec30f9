import type { z } from 'zod';
import type { AnswerContext } from './panel-answers.ts';
import type { Generation } from './panel-data.ts';

/** A refusal as the panel answers it: its own code, its sentence and the HTTP status. */
export interface PanelErrorEntry {
  code: string;
  message: string;
  httpCode: number;
}

const entry = (code: string, httpCode: number, message: string): PanelErrorEntry => ({ code, message, httpCode });

/**
 * Refusals that the fake returns. The panel answers data that its database refuses with status 500 and a code of the operation
 * (08 P3, P4); a code therefore shows a panel that works. Codes, sentences and statuses are held against the panel's package in
 * `tests/unit/vpnpanel/conformity.test.ts`.
 */
export const ERRORS = {
  INTERNAL_SERVER_ERROR: entry('A001', 500, 'Server error'),
  UNAUTHORIZED: entry('A003', 401, 'Unauthorized'),
  NODE_NOT_FOUND: entry('A011', 404, 'Node not found'),
  CREATE_USER_ERROR: entry('A018', 500, 'Failed to create user'),
  USER_USERNAME_ALREADY_EXISTS: entry('A019', 400, 'User username already exists'),
  USER_SHORT_UUID_ALREADY_EXISTS: entry('A020', 400, 'User short UUID already exists'),
  USER_NOT_FOUND: entry('A025', 404, 'User not found'),
  USER_ALREADY_DISABLED: entry('A029', 400, 'User already disabled'),
  USER_ALREADY_ENABLED: entry('A030', 400, 'User already enabled'),
  UPDATE_USER_ERROR: entry('A039', 500, 'Update user error'),
  USERS_NOT_FOUND: entry('A062', 404, 'Users not found'),
  GET_USER_BY_UNIQUE_FIELDS_NOT_FOUND: entry('A063', 404, 'User with specified params not found'),
  BULK_ADD_INBOUNDS_TO_USERS_ERROR: entry('A088', 500, 'Bulk add inbounds to users error'),
  USER_HWID_DEVICE_ALREADY_EXISTS: entry('A098', 400, 'User hwid device already exists'),
  INTERNAL_SQUAD_NOT_FOUND: entry('A118', 404, 'Internal squad not found'),
  CREATE_INTERNAL_SQUAD_ERROR: entry('A119', 500, 'Create internal squad error'),
  INTERNAL_SQUAD_NAME_ALREADY_EXISTS: entry('A120', 409, 'Internal squad name already exists'),
  UPDATE_INTERNAL_SQUAD_ERROR: entry('A121', 500, 'Update internal squad error'),
  HWID_DEVICE_NOT_FOUND: entry('A204', 404, 'HWID device not found'),
  SUBSCRIPTION_PAGE_CONFIG_NOT_FOUND: entry('A206', 404, 'Subscription page config not found'),
} as const;

/** Version 2's answer for the usage of a node that it does not have (spec 10 V2); later versions have no such code. */
export const NODE_USAGE_ERROR = entry('A094', 500, 'Get nodes usage by range error');

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

/** Finds the route of a path; routes without parameters come first in the table and have priority. */
export function findRoute(
  routes: readonly PanelRoute[],
  method: string,
  path: string,
): { route: PanelRoute; params: Record<string, string> } | null {
  const segments = path.replace(/\/+$/, '').split('/');
  for (const route of routes) {
    if (route.method !== method) continue;
    const params = matchSegments(route.path.split('/'), segments);
    if (params) return { route, params };
  }
  return null;
}

function matchSegments(pattern: string[], segments: string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (expected.startsWith(':')) params[expected.slice(1)] = decode(segment);
    else if (expected !== segment) return null;
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

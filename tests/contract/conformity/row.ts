import type { ActorClient } from '../../support/actors.ts';
import type { ApiClient, ApiReply } from '../../support/api.ts';
import type { TestApp } from '../../support/test-app.ts';
import type { Field } from './bounds.ts';

/** Who may call and what a row may lean on. */
export interface Fixture {
  t: TestApp;
  open: ApiClient;
  key: ApiClient;
  user: ActorClient;
  admin: ActorClient;
}

/** One operation of the table of published operations, with its bounds. */
export interface Row {
  /** Number in the table of the issue, which the test's name carries. */
  row: number;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The documented path. */
  path: string;
  as: 'open' | 'key' | 'user' | 'admin';
  /** Makes what the call needs: the path with its ids, and a body (or a query) that is taken. Called before every case. */
  good: (fixture: Fixture) => Promise<{ path?: string; body?: Record<string, unknown>; query?: Record<string, string> }>;
  body?: Record<string, Field>;
  query?: Record<string, Field>;
  /** Statuses of a value that is taken: 200 unless the operation needs more than its input to succeed. */
  takenStatus?: number[];
  /** Looks at the answer of a taken value. */
  answers?: (reply: ApiReply, sent: Record<string, unknown>) => void;
}

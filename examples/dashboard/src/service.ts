import { CabinetError, type Proof, storageTokenStore } from '@subscription-service/client';
import { createAdminClient, feedPermissions } from '@subscription-service/client/admin';
import { createContext, useContext } from 'react';

/** Address of the service: `VITE_API_URL` when the page is built, else a service on this machine. */
export const API_URL: string = import.meta.env.VITE_API_URL ?? 'http://localhost:8080';

interface ProofQuestion {
  methods: string[];
  answer: (proof: Proof | null) => void;
}

const signedOutHandlers = new Set<() => void>();
let askForProof: ((question: ProofQuestion) => void) | null = null;

/** The client of the page, which is its whole data layer. */
export const client = createAdminClient({
  baseUrl: API_URL,
  tokens: storageTokenStore(localStorage, 'dashboard.tokens'),
  onSignedOut: () => {
    for (const handler of signedOutHandlers) handler();
  },
  onFreshSignInRequired: ({ methods }) =>
    new Promise((answer) => {
      if (askForProof) askForProof({ methods: [...methods], answer });
      else answer(null);
    }),
});

/** The listener asks the administrator to prove again who he is. @returns ends the subscription */
export function onProofRequested(listener: (question: ProofQuestion) => void): () => void {
  askForProof = listener;
  return () => {
    askForProof = null;
  };
}

/** Calls the listener when the service ended the session. @returns ends the subscription */
export function onSignedOut(handler: () => void): () => void {
  signedOutHandlers.add(handler);
  return () => {
    signedOutHandlers.delete(handler);
  };
}

/** Whether one of the patterns (`section:action`, `section:*`, `*:*`) includes the permission. */
export function includesPermission(patterns: readonly string[], permission: string): boolean {
  const [section] = permission.split(':', 1);
  return ['*:*', `${section}:*`, permission].some((pattern) => patterns.includes(pattern));
}

/** Permissions of the administrator who is signed in. The service decides; the page only does not show what would be refused. */
export const PermissionsContext = createContext<readonly string[]>([]);

export function useMay(): (permission: string) => boolean {
  const patterns = useContext(PermissionsContext);
  return (permission) => includesPermission(patterns, permission);
}

/** Whether the service sends this administrator the events of everyone. */
export function useMayFollow(): boolean {
  const may = useMay();
  return feedPermissions.every(may);
}

/** A sentence for the administrator; `denied` stands for a missing permission. */
export function sentenceOf(error: unknown, denied: string): string {
  if (!(error instanceof CabinetError)) return String(error);
  return error.status === 403 && error.code === 'permission_denied' ? denied : error.message;
}

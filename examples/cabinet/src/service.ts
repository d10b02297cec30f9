import { CabinetError, createCabinetClient, storageTokenStore } from '@subscription-service/client';

/** Address of the service: `VITE_API_URL` when the page is built, else a service on this machine. */
export const API_URL: string = import.meta.env.VITE_API_URL ?? 'http://localhost:8080';

const signedOutHandlers = new Set<() => void>();

/** The client of the page, which is its whole data layer. */
export const client = createCabinetClient({
  baseUrl: API_URL,
  tokens: storageTokenStore(localStorage),
  onSignedOut: () => {
    for (const handler of signedOutHandlers) handler();
  },
});

/** Calls the listener when the service ended the session. @returns ends the subscription */
export function onSignedOut(handler: () => void): () => void {
  signedOutHandlers.add(handler);
  return () => {
    signedOutHandlers.delete(handler);
  };
}

/** A sentence for the user. */
export function sentenceOf(error: unknown): string {
  return error instanceof CabinetError ? error.message : String(error);
}

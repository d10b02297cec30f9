import { CabinetError, createCabinetClient, storageTokenStore } from '@subscription-service/client';

/** Address of the service: `VITE_API_URL` when the page is built, else a service on this machine. */
export const API_URL: string = import.meta.env.VITE_API_URL ?? 'http://localhost:8080';

const signedOutHandlers = new Set<() => void>();

/** The one client of the page; it is the whole data layer. */
export const client = createCabinetClient({
  baseUrl: API_URL,
  tokens: storageTokenStore(localStorage),
  onSignedOut: () => {
    for (const handler of signedOutHandlers) handler();
  },
});

/** Hears that the service ended the session. @returns stops hearing */
export function onSignedOut(handler: () => void): () => void {
  signedOutHandlers.add(handler);
  return () => {
    signedOutHandlers.delete(handler);
  };
}

/** A sentence for the person in front of the page. */
export function sentenceOf(error: unknown): string {
  return error instanceof CabinetError ? error.message : String(error);
}

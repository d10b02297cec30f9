import { CabinetError, createCabinetClient, type Proof, storageTokenStore } from '@subscription-service/client';

/** Address of the service: `VITE_API_URL` when the page is built, else a service on this machine. */
export const API_URL: string = import.meta.env.VITE_API_URL ?? 'http://localhost:8080';

const signedOutHandlers = new Set<() => void>();

interface ProofQuestion {
  methods: string[];
  answer: (proof: Proof | null) => void;
}
let askForProof: ((question: ProofQuestion) => void) | null = null;

/** The listener asks the user to prove again who he is. @returns ends the subscription */
export function onProofRequested(listener: (question: ProofQuestion) => void): () => void {
  askForProof = listener;
  return () => {
    askForProof = null;
  };
}

/** The client of the page, which is its whole data layer. */
export const client = createCabinetClient({
  baseUrl: API_URL,
  tokens: storageTokenStore(localStorage),
  onSignedOut: () => {
    for (const handler of signedOutHandlers) handler();
  },
  onFreshSignInRequired: ({ methods }) =>
    new Promise((answer) => {
      if (askForProof) askForProof({ methods: [...methods], answer });
      else answer(null);
    }),
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

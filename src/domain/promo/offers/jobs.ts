export { handleOfferPress } from './answer-in-messenger.ts';
export { expirePromo } from './run-expiry.ts';
export { continueBroadcast } from './send-messages.ts';
export { offerWinBacks } from './win-back.ts';

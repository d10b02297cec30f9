export { deliverWaiting } from './purchases/deliver-purchase.ts';
export { fulfilPurchase } from './purchases/fulfil-purchase.ts';
export { handleGiftPress } from './purchases/press-activate.ts';
export { guestPurchases } from './purchases/purpose.ts';
export { watchPurchases } from './purchases/watch-purchases.ts';

/** Cabinet: tickets, polls, fortune wheel, sales pages. */
export const CABINET_OTHER: Readonly<Record<string, string>> = {
  'GET /cabinet/tickets': 'Lists own tickets, last changed first.',
  'POST /cabinet/media/upload':
    'Stores a private file of up to 10 MB as form data, for a ticket or, as an administrator, for broadcasts and pinned messages. The content decides what it is: images, videos, PDF, DOCX, XLSX, ZIP, GZIP and plain text are taken, with the matching `media_type`. 20 uploads in ten minutes are allowed, and so many files and megabytes altogether as `MEDIA_FILES_PER_USER` and `MEDIA_MEGABYTES_PER_USER` say; neither limits the sum for administrators. A file that nothing refers to is deleted after `MEDIA_UNUSED_DAYS` days.',
  'GET /cabinet/media/{file_id}':
    'Returns the content of a file. No credential is needed for a public file, nor for a private one with a signed id, as uploads and tickets return them; a signed id expires (`MEDIA_LINK_MINUTES`). By its plain id a private file is returned to its uploader and to administrators only. Images and videos are shown in place, everything else is a download. A `Range` of bytes is answered with 206.',
  'POST /cabinet/tickets':
    'Opens a ticket with its first message. Administrators are notified in the messenger and in the cabinet. Emits `ticket.created`.',
  'GET /cabinet/tickets/{ticket_id}': 'Returns an own ticket with its messages, oldest first.',
  'POST /cabinet/tickets/{ticket_id}/messages':
    'Adds a message to an own ticket that is not closed; an answered ticket becomes pending. Administrators are notified. Emits `ticket.message_added`. Limited to one message in two seconds.',
  'GET /cabinet/tickets/notifications': 'Lists own notifications about tickets, newest first.',
  'GET /cabinet/tickets/notifications/unread-count': 'Counts own unread notifications.',
  'POST /cabinet/tickets/notifications/{notification_id}/read':
    'Marks an own notification as read. Repeating the call changes nothing.',
  'POST /cabinet/tickets/notifications/read-all': 'Marks all own notifications as read.',
  'POST /cabinet/tickets/notifications/ticket/{ticket_id}/read': 'Marks own notifications about one ticket as read.',

  'GET /cabinet/contests/count': 'Returns the number of running contests that the user has not played.',
  'GET /cabinet/contests': 'Lists running contests, one of each game, the earliest first.',
  'GET /cabinet/contests/{round_id}': 'Returns what the player of a round is shown.',
  'POST /cabinet/contests/{round_id}/answer':
    'Plays a round: a user has one attempt. A prize in money is credited and days extend the subscription at once. Accepts `Idempotency-Key`.',
  'GET /cabinet/polls/count': 'Returns the number of own polls that are not completed.',
  'GET /cabinet/polls': 'Lists own polls, newest first.',
  'GET /cabinet/polls/{response_id}': 'Returns an own poll and the progress of its answers.',
  'POST /cabinet/polls/{response_id}/start': 'Begins or resumes a poll and returns the first question without answer.',
  'POST /cabinet/polls/{response_id}/questions/{question_id}/answer':
    'Answers a question, or replaces the answer. The last answer completes the poll and credits its reward, once. Accepts `Idempotency-Key`.',

  'GET /cabinet/wheel/config': 'Returns the prizes and what a spin costs, and whether the user can spin.',
  'GET /cabinet/wheel/availability': 'Returns whether the user can spin now and how it can be paid.',
  'POST /cabinet/wheel/spin':
    'Charges a spin and draws a prize, which is given immediately. A refusal is answered with status 200, `success` false and `error`. If days or traffic change, the panel is updated afterwards. Accepts `Idempotency-Key`.',
  'GET /cabinet/wheel/history': 'Lists own spins, newest first.',
  'POST /cabinet/wheel/stars-invoice':
    'Creates a link of the messenger to pay a spin in Stars. The spin is made when the messenger reports the payment.',

  'GET /cabinet/landing/{slug}': 'Returns a sales page with tariffs, prices and payment methods, in the requested language.',
  'POST /cabinet/landing/{slug}/purchase':
    'Begins a purchase without an account, for the buyer or as a gift, and returns the address where it is paid and the token of the purchase. It is delivered when the provider reports the payment. Accepts `Idempotency-Key`.',
  'GET /cabinet/landing/purchase/{token}':
    'Returns the state of a purchase. Contacts are masked. Links, password and sign-in token of a new account are shown for a limited time.',

  'GET /cabinet/gift/config':
    'Returns the tariffs that can be given with the prices for this user, discounts applied, and the payment methods. While gifts are switched off, only the balance.',
  'POST /cabinet/gift/purchase':
    'Buys a gift: from the balance, where the debit and the gift are one transaction, or by an invoice at a provider, which is paid at `payment_url`. With a recipient it is given when it is paid, and the recipient is notified; without one it is a code for whoever activates it. A personal discount is used up by the payment. At most 5 a minute. Accepts `Idempotency-Key`.',
  'GET /cabinet/gift/pending':
    'Lists the gifts that wait for the own consent because there is a subscription that they would replace, newest first, at most 100.',
  'GET /cabinet/gift/purchase/{token}': 'Returns the state of one gift that the user bought.',
  'GET /cabinet/gift/sent': 'Lists the gifts that the user bought, newest first, at most 100.',
  'GET /cabinet/gift/received': 'Lists the gifts that the user was given, in any state, newest first, at most 100.',
  'POST /cabinet/gift/activate':
    'Activates a gift by its code. An own subscription is replaced entirely. A gift for a named recipient can be activated by that recipient only, one without a recipient by the first who enters the code. Repeating it changes nothing. The panel is updated afterwards; the answer waits for it a moment. At most 10 a minute; unknown codes are limited further by user and address. Accepts `Idempotency-Key`.',

  'GET /cabinet/notifications': 'Returns what the user wants to be notified of; what was never set has its default.',
  'PATCH /cabinet/notifications':
    'Changes the settings that are sent, absent or null ones stay, and returns all. Reminders of the end, warnings of the traffic limit and promo offers follow them from the next one on.',
  'POST /cabinet/notifications/test':
    'Sends one notification to the user, in the messenger, else to the verified e-mail address. Answers before it is sent; a user without either gets none. Once a minute.',
  'GET /cabinet/notifications/history':
    'Lists purchases, renewals, top-ups and the like on the own account, newest first, with a sentence in the language of the user.',
};

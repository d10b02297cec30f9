/** HTML of the page; `page-script.ts` fills the lists. */
export const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sandbox</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/sandbox/page.css">
<script src="/sandbox/page.js" defer></script>
</head>
<body>
<header>
  <div><h1>Sandbox</h1><p>Nothing here reaches the outside: no real money, mail, messages or VPN.</p></div>
  <section class="clock" aria-label="Service clock">
    <time id="now">…</time>
    <div>
      <button type="button" data-advance="3600000">+1 h</button>
      <button type="button" data-advance="86400000">+1 day</button>
      <button type="button" data-advance="2592000000">+30 days</button>
    </div>
  </section>
</header>
<p id="problem" role="alert" hidden></p>
<main>
  <section class="wide"><h2>Invoices <span id="invoices-count"></span></h2><div id="invoices" aria-busy="true"><p class="soft">Loading …</p></div></section>
  <section><h2>Mail box <span id="mail-count"></span></h2><div id="mail" aria-busy="true"><p class="soft">Loading …</p></div></section>
  <section><h2>Messenger <span id="messages-count"></span></h2><div id="messages" aria-busy="true"><p class="soft">Loading …</p></div>
    <form id="membership">
      <label>Channel <input name="channel" required placeholder="@channel or -100…"></label>
      <label>User <input name="user" required inputmode="numeric" placeholder="messenger id"></label>
      <button type="submit" value="left">Has left</button>
      <button type="submit" value="member">Has joined</button>
    </form></section>
  <section class="wide"><h2>Panel users <span id="users-count"></span></h2><div id="users" aria-busy="true"><p class="soft">Loading …</p></div></section>
  <section class="wide"><h2>Squads <span id="squads-count"></span></h2><div id="squads" aria-busy="true"><p class="soft">Loading …</p></div></section>
</main>
<noscript>This page needs scripts.</noscript>
</body>
</html>
`;

// One diagram for each concept of the guides. The file in `docs/img/` has the name of the entry.
import type { Diagram } from './draw.ts';

export const diagrams: Record<string, Diagram> = {
  guides: {
    title: 'The order of the guides',
    description: 'Send one mail, then know your contacts, write to many, automate, and run it yourself.',
    boxes: {
      one: { at: [0, 0], text: 'Send one mail', look: 'strong' },
      know: { at: [1, 0], text: 'Know your contacts' },
      many: { at: [2, 0], text: 'Write to many' },
      automate: { at: [2, 1], text: 'Automate' },
      run: { at: [1, 1], text: 'Run it yourself' },
    },
    arrows: [
      ['one', 'know'],
      ['know', 'many'],
      ['many', 'automate'],
      ['automate', 'run'],
    ],
  },
  'first-mail': {
    title: 'The way of one mail',
    description:
      'Your program posts to /v1/send. The API stores the mail and answers 200 with its id. The worker sends it by SMTP to the recipient; its status goes from PENDING to SENDING to SENT.',
    boxes: {
      program: { at: [0, 0], text: 'Your program' },
      api: { at: [1, 0], text: 'API', look: 'strong' },
      stored: { at: [1, 1], text: 'Stored mail\nPENDING' },
      worker: { at: [1, 2], text: 'Worker\nSENDING' },
      recipient: { at: [0, 2], text: 'Recipient\nSENT' },
    },
    arrows: [
      ['program', 'api', 'POST /v1/send'],
      ['api', 'stored', '200 with the id'],
      ['stored', 'worker'],
      ['worker', 'recipient', 'SMTP'],
    ],
  },
  contacts: {
    title: 'Where contacts come from',
    description:
      'POST /contacts, POST /v1/track, POST /v1/send and CSV imports all write to one contact per address and project. It has an email, subscribed, and data such as plan and seats.',
    boxes: {
      contacts: { at: [0, 0], text: 'POST /contacts' },
      track: { at: [0, 1], text: 'POST /v1/track' },
      send: { at: [0, 2], text: 'POST /v1/send' },
      csv: { at: [0, 3], text: 'CSV import' },
      contact: {
        at: [1, 1],
        text: 'One contact per address\nemail: carl@example.com\nsubscribed: true\ndata: { plan: "pro", seats: 4 }',
        look: 'strong',
      },
    },
    arrows: [
      ['contacts', 'contact'],
      ['track', 'contact'],
      ['send', 'contact'],
      ['csv', 'contact'],
    ],
  },
  track: {
    title: 'From an event to a mail',
    description:
      'A browser or server posts to /v1/track with the public key. The event of a contact starts workflows, which send mail; segments and campaigns can ask for it.',
    boxes: {
      source: { at: [0, 0], text: 'Browser or server' },
      event: { at: [1, 0], text: 'Event of a contact', look: 'strong' },
      workflow: { at: [1, 1], text: 'Workflow starts' },
      mail: { at: [0, 1], text: 'Mail' },
      segments: { at: [1, 2], text: 'Segments and campaigns\ncan ask for it' },
    },
    arrows: [
      ['source', 'event', 'POST /v1/track'],
      ['event', 'workflow'],
      ['workflow', 'mail'],
    ],
  },
  import: {
    title: 'An import is a job',
    description:
      'You upload contacts.csv. The job goes from QUEUED to RUNNING to COMPLETED and counts contacts that were created, updated and unchanged; failed rows have their number and reason.',
    boxes: {
      file: { at: [0, 0], text: 'contacts.csv' },
      queued: { at: [1, 0], text: 'QUEUED' },
      running: { at: [1, 1], text: 'RUNNING', look: 'strong' },
      done: { at: [1, 2], text: 'COMPLETED' },
      good: { at: [0, 1], text: 'created, updated,\nunchanged' },
      bad: { at: [0, 2], text: 'failed: row number\nand reason' },
    },
    arrows: [
      ['file', 'queued', 'upload'],
      ['queued', 'running'],
      ['running', 'done'],
      ['running', 'good'],
      ['done', 'bad'],
    ],
  },
  topics: {
    title: 'Whether an email may begin',
    description:
      "A contact's choice, or the default of the topic, gives the state of the topic. Suppression, subscription, snooze and that state decide whether an email begins or is SKIPPED with the reason.",
    boxes: {
      choice: { at: [0, 0], text: "The contact's choice,\nelse the default" },
      contact: { at: [0, 1], text: 'Suppression,\nsubscription, snooze' },
      rule: { at: [1, 0], text: 'One rule, asked when\nthe email begins', look: 'strong' },
      begins: { at: [2, 0], text: 'The email begins' },
      skipped: { at: [2, 1], text: 'SKIPPED\nwith the reason' },
    },
    arrows: [
      ['choice', 'rule', 'state of the topic'],
      ['contact', 'rule'],
      ['rule', 'begins'],
      ['rule', 'skipped'],
    ],
  },
  moment: {
    title: 'When each recipient gets the email',
    description:
      'At UTC+14 the recipients and their moments are fixed. Each email waits in the ledger until clocks of its recipient show the local time, then it is sent. What is pending at sendUntil is SKIPPED as too late.',
    boxes: {
      scheduled: { at: [0, 0], text: 'SCHEDULED\nuntil UTC+14' },
      frozen: { at: [1, 0], text: 'A moment for\neach recipient', look: 'strong' },
      waits: { at: [2, 0], text: 'PENDING\nlocal time' },
      sent: { at: [3, 0], text: 'SENT at 09:00\nby their clock' },
      late: { at: [2, 1], text: 'SKIPPED\ntoo late' },
    },
    arrows: [
      ['scheduled', 'frozen'],
      ['frozen', 'waits'],
      ['waits', 'sent'],
      ['waits', 'late', 'sendUntil'],
    ],
  },
  forms: {
    title: 'What becomes of a submission',
    description:
      'A visitor sends the form. The submission is RECEIVED, then PENDING while its confirmation email waits for the owner of the address, then CONFIRMED, DECLINED or EXPIRED. Only a confirmed one reaches a contact.',
    boxes: {
      visitor: { at: [0, 0], text: 'A visitor\nsends the form' },
      received: { at: [1, 0], text: 'RECEIVED' },
      pending: { at: [1, 1], text: 'PENDING\nconfirmation sent', look: 'strong' },
      confirmed: { at: [0, 2], text: 'CONFIRMED\na contact' },
      declined: { at: [1, 2], text: 'DECLINED' },
      expired: { at: [2, 2], text: 'EXPIRED' },
    },
    arrows: [
      ['visitor', 'received'],
      ['received', 'pending'],
      ['pending', 'confirmed'],
      ['pending', 'declined'],
      ['pending', 'expired'],
    ],
  },
  segments: {
    title: 'Two kinds of segments',
    description:
      'A DYNAMIC segment has a condition, such as subscribed and tier gold. A STATIC one has a list of addresses. Campaigns, workflow triggers and other segments use both.',
    boxes: {
      dynamic: { at: [0, 0], text: 'DYNAMIC: a condition\nsubscribed = true\nAND tier = "gold"', look: 'strong' },
      static: { at: [0, 1], text: 'STATIC: a list\ngina@example.com\nhugo@example.com', look: 'strong' },
      use: { at: [1, 0], text: 'Campaigns,\nworkflow triggers,\nother segments' },
    },
    arrows: [
      ['dynamic', 'use'],
      ['static', 'use'],
    ],
  },
  campaigns: {
    title: 'The states of a campaign',
    description:
      'DRAFT, then SCHEDULED, then SENDING, then SENT. A campaign that is SENDING can be PAUSED and resumed. It can be cancelled until it is SENT.',
    boxes: {
      draft: { at: [0, 0], text: 'DRAFT' },
      scheduled: { at: [1, 0], text: 'SCHEDULED' },
      sending: { at: [1, 1], text: 'SENDING', look: 'strong' },
      sent: { at: [1, 2], text: 'SENT' },
      paused: { at: [2, 1], text: 'PAUSED' },
      cancelled: { at: [0, 1], text: 'CANCELLED' },
    },
    arrows: [
      ['draft', 'scheduled'],
      ['scheduled', 'sending'],
      ['sending', 'sent'],
      ['sending', 'paused', 'pause, resume'],
      ['paused', 'sending'],
      ['sending', 'cancelled', 'cancel'],
    ],
  },
  workflows: {
    title: 'A workflow',
    description:
      'The event trial_started leads to SEND_EMAIL Welcome, then to WAIT_FOR_EVENT bought for 3 days. When the event comes, UPDATE_CONTACT sets customer to true; after the timeout, EXIT with no purchase.',
    boxes: {
      event: { at: [0, 0], text: 'Event trial_started' },
      send: { at: [0, 1], text: 'SEND_EMAIL\nWelcome' },
      wait: { at: [0, 2], text: 'WAIT_FOR_EVENT\nbought, 3 days', look: 'strong' },
      update: { at: [0, 3], text: 'UPDATE_CONTACT\ncustomer = true' },
      exit: { at: [1, 3], text: 'EXIT\nno purchase' },
    },
    arrows: [
      ['event', 'send'],
      ['send', 'wait'],
      ['wait', 'update', 'event'],
      ['wait', 'exit', 'timeout'],
    ],
  },
  simulation: {
    title: 'Simulation and cases',
    description:
      'A graph or draft, a virtual contact, virtual events and a virtual clock go into the simulation. It gives the path, mails and requests; nothing is sent or stored. A case adds the expected path, and passes or fails with the difference.',
    boxes: {
      graph: { at: [0, 0], text: 'Graph or draft' },
      virtual: { at: [0, 1], text: 'Virtual contact,\nevents and clock' },
      simulate: { at: [1, 1], text: 'Simulate\nnothing is sent or stored', look: 'strong' },
      path: { at: [1, 2], text: 'Path, mails, requests' },
      expected: { at: [0, 3], text: 'Expected path' },
      verdict: { at: [1, 3], text: 'Case: passed or failed,\nwith the difference' },
    },
    arrows: [
      ['graph', 'simulate'],
      ['virtual', 'simulate'],
      ['simulate', 'path'],
      ['path', 'verdict'],
      ['expected', 'verdict'],
    ],
  },
  domains: {
    title: 'How a domain is verified',
    description:
      'POST /domains gives records: DKIM is required, SPF and MX when configured, DMARC recommended. You publish them in DNS. A check every five minutes makes the domain VERIFIED, and hourly from then on. Mail from it is signed and sent.',
    boxes: {
      post: { at: [0, 0], text: 'POST /domains' },
      records: { at: [1, 0], text: 'Records: DKIM (required),\nSPF, MX, DMARC' },
      publish: { at: [1, 1], text: 'You publish them in DNS' },
      check: { at: [1, 2], text: 'Check every 5 minutes' },
      verified: { at: [0, 2], text: 'VERIFIED\nchecked hourly', look: 'strong' },
    },
    arrows: [
      ['post', 'records'],
      ['records', 'publish'],
      ['publish', 'check'],
      ['check', 'verified'],
    ],
  },
  'hosted-pages': {
    title: 'Pages behind the links of a mail',
    description:
      'The footer or your own link leads to a page that asks and has a button: unsubscribe, subscribe or manage. The header List-Unsubscribe lets the mail program unsubscribe in one click.',
    boxes: {
      mail: { at: [0, 0], text: 'Mail', look: 'strong' },
      page: { at: [1, 0], text: '/unsubscribe, /subscribe,\n/manage: a page asks' },
      program: { at: [0, 1], text: 'Mail program' },
      done: { at: [1, 1], text: 'Subscription changed' },
    },
    arrows: [
      ['mail', 'page', 'footer'],
      ['page', 'done', 'button'],
      ['mail', 'program'],
      ['program', 'done', 'one click'],
    ],
  },
  webhooks: {
    title: 'A delivery of a webhook',
    description:
      'When something happens, a delivery is posted to your application, signed. 2xx makes it DELIVERED. Otherwise it is repeated over about four days, then FAILED.',
    boxes: {
      event: { at: [0, 0], text: 'Something happens' },
      delivery: { at: [0, 1], text: 'Delivery', look: 'strong' },
      app: { at: [1, 1], text: 'Your application' },
      delivered: { at: [1, 2], text: 'DELIVERED' },
      failed: { at: [0, 2], text: 'Again after 5 s … 24 h,\nthen FAILED' },
    },
    arrows: [
      ['event', 'delivery'],
      ['delivery', 'app', 'POST, signed'],
      ['app', 'delivered', '2xx'],
      ['delivery', 'failed', 'otherwise'],
    ],
  },
  keys: {
    title: 'Who may do what',
    description:
      'The public key in web pages tracks events and nothing else. The secret key on your servers does everything in the project. A scoped key does only what its scopes allow. People have sessions with a role: VIEWER, MEMBER, ADMIN, OWNER.',
    boxes: {
      web: { at: [0, 0], text: 'Web pages' },
      server: { at: [0, 1], text: 'Your servers' },
      job: { at: [0, 2], text: 'One program of yours' },
      people: { at: [0, 3], text: 'People' },
      track: { at: [1, 0], text: 'Track events, nothing else' },
      all: { at: [1, 1], text: 'Everything in the project', look: 'strong' },
      scopes: { at: [1, 2], text: 'Only its scopes' },
      role: { at: [1, 3], text: 'By role: VIEWER, MEMBER,\nADMIN, OWNER' },
    },
    arrows: [
      ['web', 'track', 'public key pk_'],
      ['server', 'all', 'secret key sk_'],
      ['job', 'scopes', 'scoped key sk_'],
      ['people', 'role', 'session'],
    ],
  },
  errors: {
    title: 'What a request passes',
    description:
      'Key (401), rate limit (429), size (413), rules (400, 422), state (403, 404, 409), then 2xx. 500, 502 and 503 are not your fault.',
    boxes: {
      request: { at: [0, 0], text: 'Request' },
      key: { at: [0, 1], text: 'Key' },
      limit: { at: [0, 2], text: 'Rate limit' },
      size: { at: [0, 3], text: 'Size' },
      rules: { at: [0, 4], text: 'Rules' },
      state: { at: [0, 5], text: 'State' },
      done: { at: [0, 6], text: '2xx', look: 'strong' },
      unauthorized: { at: [1, 1], text: '401' },
      many: { at: [1, 2], text: '429' },
      large: { at: [1, 3], text: '413' },
      invalid: { at: [1, 4], text: '400, 422' },
      conflict: { at: [1, 5], text: '403, 404, 409' },
      server: { at: [1, 6], text: '500, 502, 503:\nnot your fault' },
    },
    arrows: [
      ['request', 'key'],
      ['key', 'limit'],
      ['limit', 'size'],
      ['size', 'rules'],
      ['rules', 'state'],
      ['state', 'done'],
      ['key', 'unauthorized'],
      ['limit', 'many'],
      ['size', 'large'],
      ['rules', 'invalid'],
      ['state', 'conflict'],
    ],
  },
  'email-as-json': {
    title: 'From a document to a recipient',
    description:
      'Document, brand kit and saved blocks are rendered to a body when they are saved. Sending fills in the variables of the body for each recipient.',
    boxes: {
      document: { at: [0, 0], text: 'Document: blocks' },
      brand: { at: [0, 1], text: 'Brand kit,\nsaved blocks' },
      body: { at: [1, 0], text: 'Body: HTML with\nvariables', look: 'strong' },
      email: { at: [2, 0], text: 'Email to\none recipient' },
    },
    arrows: [
      ['document', 'body'],
      ['brand', 'body'],
      ['body', 'email'],
    ],
  },
  idempotency: {
    title: 'A request that is repeated',
    description:
      'The first request with key K stores the work and the key together; its 200 is lost. The second request with key K finds the key: the work is done, and the 409 has the ids of the first answer.',
    boxes: {
      first: { at: [0, 0], text: 'First request, key K' },
      stored: { at: [1, 0], text: 'Work and key are\nstored together', look: 'strong' },
      lost: { at: [2, 0], text: '200, lost' },
      second: { at: [0, 1], text: 'Second request, key K' },
      found: { at: [1, 1], text: 'The key is there:\nthe work is done' },
      answer: { at: [2, 1], text: '409 with the\nfirst ids' },
    },
    arrows: [
      ['first', 'stored'],
      ['stored', 'lost'],
      ['second', 'found'],
      ['found', 'answer'],
    ],
  },
  migration: {
    title: 'Eight steps of a migration',
    description:
      'Run beside the old service, move domain, contacts, suppressions, templates and workflows, then switch address and keys, and watch.',
    boxes: {
      run: { at: [0, 0], text: '1 Run beside it' },
      domain: { at: [1, 0], text: '2 Domain: DNS' },
      contacts: { at: [2, 0], text: '3 Contacts: CSV' },
      suppressions: { at: [2, 1], text: '4 Suppressions: CSV' },
      templates: { at: [1, 1], text: '5 Templates: API' },
      workflows: { at: [0, 1], text: '6 Workflows: API' },
      change: { at: [0, 2], text: '7 Switch address\nand keys', look: 'strong' },
      watch: { at: [1, 2], text: '8 Watch' },
    },
    arrows: [
      ['run', 'domain'],
      ['domain', 'contacts'],
      ['contacts', 'suppressions'],
      ['suppressions', 'templates'],
      ['templates', 'workflows'],
      ['workflows', 'change'],
      ['change', 'watch'],
    ],
  },
  'self-hosting': {
    title: 'The parts of an installation',
    description:
      'Clients reach a proxy with https, which passes on to any number of API processes. They use Postgres. Any number of workers use Postgres, Temporal and an SMTP relay.',
    boxes: {
      clients: { at: [0, 0], text: 'Clients' },
      proxy: { at: [0, 1], text: 'Proxy (https)' },
      api: { at: [1, 1], text: 'API × n', look: 'strong' },
      postgres: { at: [1, 2], text: 'Postgres' },
      worker: { at: [1, 3], text: 'Worker × n', look: 'strong' },
      relay: { at: [0, 3], text: 'SMTP relay' },
      temporal: { at: [2, 3], text: 'Temporal' },
    },
    arrows: [
      ['clients', 'proxy'],
      ['proxy', 'api'],
      ['api', 'postgres'],
      ['worker', 'postgres'],
      ['worker', 'relay', 'mail'],
      ['worker', 'temporal', 'time'],
    ],
  },
  upgrade: {
    title: 'An upgrade without a break',
    description:
      'Back up. Migrate; the old processes go on working. Replace API and worker processes one by one. Check with everpost doctor.',
    boxes: {
      backup: { at: [0, 0], text: '1 Back up\nthe database' },
      migrate: { at: [1, 0], text: '2 Migrate\nold processes go on', look: 'strong' },
      replace: { at: [1, 1], text: '3 Replace processes\none by one' },
      check: { at: [0, 1], text: '4 Check\neverpost doctor' },
    },
    arrows: [
      ['backup', 'migrate'],
      ['migrate', 'replace'],
      ['replace', 'check'],
    ],
  },
  monitoring: {
    title: 'What to watch',
    description:
      'Probes: /health and /ready. Metrics: the age of the oldest mail, parked messages, usable relays. Commands: everpost doctor and queues. People: the operator console and the Web UI of Temporal.',
    boxes: {
      everpost: { at: [0, 0], text: 'Everpost', look: 'strong' },
      probes: { at: [1, 0], text: '/health, /ready' },
      metrics: { at: [1, 1], text: 'mail_oldest_seconds,\noutbox_rows, relay_usable' },
      commands: { at: [1, 2], text: 'everpost doctor, queues' },
      people: { at: [1, 3], text: 'Operator console,\nTemporal Web UI' },
      orchestrator: { at: [0, 1], text: 'Metrics' },
      shell: { at: [0, 2], text: 'Commands' },
      eyes: { at: [0, 3], text: 'People' },
    },
    arrows: [
      ['everpost', 'probes', 'probes'],
      ['orchestrator', 'metrics'],
      ['shell', 'commands'],
      ['eyes', 'people'],
    ],
  },
  troubleshooting: {
    title: 'Where to look, in order',
    description:
      'What you see, then the own reason of the resource (status, reason, error), then everpost doctor and queues, then the log by request id.',
    boxes: {
      see: { at: [0, 0], text: 'What you see' },
      reason: { at: [1, 0], text: 'The reason of the resource:\nstatus, reason, error' },
      doctor: { at: [1, 1], text: 'everpost doctor,\neverpost queues', look: 'strong' },
      log: { at: [0, 1], text: 'The log,\nby request id' },
    },
    arrows: [
      ['see', 'reason'],
      ['reason', 'doctor'],
      ['doctor', 'log'],
    ],
  },
  comparison: {
    title: 'What the tools are for',
    description:
      'With your own mail server: Postal, for single emails. With a relay or provider: Everpost and Plunk for single emails, emails to many and step by step; listmonk for emails to many; Dittofeed and Mautic for many and step by step. Without machines: Resend.',
    boxes: {
      server: { at: [1, 0], text: 'your own mail server', look: 'note' },
      relay: { at: [2, 0], text: 'a relay or provider', look: 'note' },
      hosted: { at: [3, 0], text: 'no machines', look: 'note' },
      one: { at: [0, 1], text: 'one by one', look: 'note' },
      many: { at: [0, 2], text: 'to many', look: 'note' },
      steps: { at: [0, 3], text: 'step by step', look: 'note' },
      postal: { at: [1, 1], text: 'Postal' },
      relayOne: { at: [2, 1], text: 'Everpost, Plunk', look: 'strong' },
      relayMany: { at: [2, 2], text: 'Everpost, Plunk, listmonk,\nDittofeed, Mautic', look: 'strong' },
      relaySteps: { at: [2, 3], text: 'Everpost, Plunk,\nDittofeed, Mautic', look: 'strong' },
      hostedOne: { at: [3, 1], text: 'Resend' },
      hostedMany: { at: [3, 2], text: 'Resend' },
      hostedSteps: { at: [3, 3], text: 'Resend' },
    },
    arrows: [],
  },
  deliverability: {
    title: 'From a new domain to the inbox',
    description:
      'Publish DNS records, send a little more each day, look at bounces and complaints, clean the list, and go round again.',
    boxes: {
      dns: { at: [0, 0], text: '1 DNS: who you are' },
      warm: { at: [1, 0], text: '2 Send a little\nmore each day', look: 'strong' },
      look: { at: [2, 0], text: '3 Bounces and\ncomplaints' },
      list: { at: [1, 1], text: '4 Clean the list' },
      inbox: { at: [2, 1], text: 'the inbox', look: 'note' },
    },
    arrows: [
      ['dns', 'warm'],
      ['warm', 'look'],
      ['look', 'inbox', 'few'],
      ['list', 'warm'],
    ],
  },
  windows: {
    title: 'Where the parts run',
    description: 'On Windows your browser and editor; inside WSL, a Linux, Everpost with its folder in your home.',
    boxes: {
      windows: { at: [0, 0], text: 'Windows', look: 'note' },
      browser: { at: [0, 1], text: 'browser' },
      editor: { at: [0, 2], text: 'editor' },
      linux: { at: [1, 0], text: 'WSL 2 (Ubuntu)', look: 'note' },
      everpost: { at: [1, 1], text: 'npm start', look: 'strong' },
      folder: { at: [1, 2], text: '~/everpost' },
    },
    arrows: [
      ['browser', 'everpost', 'localhost'],
      ['editor', 'folder'],
    ],
  },
  'from-listmonk': {
    title: 'From listmonk to Everpost',
    description:
      'Subscribers become contacts, lists static segments, SQL queries dynamic segments, the blocklist suppressions, and templates are translated.',
    boxes: {
      subscribers: { at: [0, 0], text: 'subscribers' },
      lists: { at: [0, 1], text: 'lists, SQL queries' },
      blocklist: { at: [0, 2], text: 'blocklist' },
      templates: { at: [0, 3], text: 'Go templates' },
      contacts: { at: [1, 0], text: 'contacts', look: 'strong' },
      segments: { at: [1, 1], text: 'segments', look: 'strong' },
      suppressions: { at: [1, 2], text: 'suppressions', look: 'strong' },
      translated: { at: [1, 3], text: 'templates', look: 'strong' },
    },
    arrows: [
      ['subscribers', 'contacts', 'CSV'],
      ['lists', 'segments'],
      ['blocklist', 'suppressions', 'CSV'],
      ['templates', 'translated', 'by hand'],
    ],
  },
  'from-resend': {
    title: 'From Resend to Everpost',
    description:
      'Emails are sent by /v1/send, contacts are imported, broadcasts become campaigns, automations workflows; a relay delivers.',
    boxes: {
      emails: { at: [0, 0], text: 'POST /emails' },
      contacts: { at: [0, 1], text: 'contacts' },
      broadcasts: { at: [0, 2], text: 'broadcasts' },
      automations: { at: [0, 3], text: 'automations' },
      send: { at: [1, 0], text: 'POST /v1/send', look: 'strong' },
      imported: { at: [1, 1], text: 'contacts', look: 'strong' },
      campaigns: { at: [1, 2], text: 'campaigns', look: 'strong' },
      workflows: { at: [1, 3], text: 'workflows', look: 'strong' },
    },
    arrows: [
      ['emails', 'send'],
      ['contacts', 'imported', 'CSV'],
      ['broadcasts', 'campaigns'],
      ['automations', 'workflows'],
    ],
  },
};

// The methods of afd and the types of their results.
//
// Generated from the OpenRPC document of the daemon; a test keeps it up to date. proto/METHODS.md explains each field.

/** Makes a call; the client adds its device, its session and a key where the method takes them. */
export type Call = (method: string, params: object, adds: Adds) => Promise<any>;

/** What the client adds. */
export interface Adds {
  device?: boolean;
  session?: boolean;
  key?: boolean;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface ActResultReply {
  device: string;
  durationMs: number;
  eventId: string;
  look?: Look;
  moved?: boolean;
  point?: Point;
  recorded?: boolean;
  recovery?: string;
  replayed?: boolean;
  result: string;
  risky?: boolean;
  session: string;
  target?: Target;
  traceId: string;
  unmarked?: boolean;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface ActUndoResultReply {
  action?: string;
  at?: StateRef;
  device: string;
  durationMs: number;
  eventId?: string;
  look?: Look;
  mayRemain?: boolean;
  probability?: number;
  recorded?: boolean;
  replayed?: boolean;
  session: string;
  text: string;
  traceId: string;
  undid: string;
  undoes: string;
  undone: boolean;
}

/** An action that was or can be performed. */
export interface Action {
  params?: Record<string, unknown>;
  point?: Point;
  slots?: string[];
  target?: Target;
  verb: Verb;
}

/** An interactive element with its alias. */
export interface ActiveElement {
  ref: string;
  target: Target;
}

/** Result of `device.add`. */
export interface AddResult {
  device: DeviceInfo;
  savedIn?: string;
  trial?: Trial;
}

/** The word that requests all hints. */
export type AllHints = "all";

/** Allocation of a token budget to the parts of a context; all fields are numbers of tokens. */
export interface Allocation {
  buffer: number;
  currentTask: number;
  history: number;
  knowledge: number;
  system: number;
  tools: number;
}

/** Distance of a scroll. */
export type Amount = "small" | "medium" | "large";

/** Result of appending messages. */
export interface AppendResult {
  compacted: number;
  contextSet: Record<string, string>;
  first: number;
  last: number;
  session: string;
  tokens: number;
  usage: Usage;
}

/** A file that the daemon wrote. */
export interface Artifact {
  artifactId: number;
  contentHash: string;
  createdAt: number;
  device?: string;
  filePath: string;
  kind: string;
  mimeType: string;
  op: string;
  session: string;
  sizeBytes: number;
  status: ArtifactStatus;
  traceId: string;
  uid: string;
}

/** An artifact, with its content if the content was requested. */
export interface ArtifactDetails {
  artifactId: number;
  base64?: string;
  contentHash: string;
  createdAt: number;
  device?: string;
  filePath: string;
  kind: string;
  mimeType: string;
  op: string;
  session: string;
  sizeBytes: number;
  status: ArtifactStatus;
  text?: string;
  traceId: string;
  uid: string;
}

/** State of an artifact's file. */
export type ArtifactStatus = "present" | "missing";

/** A page of artifacts, newest first. */
export interface Artifacts {
  artifacts: Artifact[];
  nextCursor?: number;
}

/** A backup: a directory with copies of the database, the database key and the artifacts. */
export interface Backup {
  artifactBytes: number;
  artifacts: number;
  createdAt: number;
  databaseBytes: number;
  databaseHash: string;
  keyHash?: string;
  name: string;
  origin: string;
  reason: BackupReason;
  schema: number;
  version: string;
}

/** Reason for a backup. */
export type BackupReason = "request" | "schedule" | "migration" | "rescue";

/** Backups, newest first. */
export interface Backups {
  backups: Backup[];
  dir: string;
  totalBytes: number;
  unreadable?: string[];
}

/** A bug. */
export interface Bug {
  actual?: string;
  app?: string;
  createdAt: number;
  description?: string;
  expected?: string;
  id: number;
  origin?: string;
  page?: string;
  resolution?: string;
  resolvedAt?: number;
  scope?: RecordScope;
  screenshot?: string;
  session: string;
  severity: Severity;
  state?: string;
  status: BugStatus;
  steps?: string[];
  task?: string;
  title: string;
  uid: string;
}

/** Result of `session.bug.add`. */
export interface BugAddResult {
  bug: Bug;
  missing?: string[];
  similar: Bug[];
}

/** Number of bugs by severity and by status. */
export interface BugCounts {
  critical: number;
  high: number;
  low: number;
  medium: number;
  open: number;
  resolved: number;
  total: number;
}

/** Status of a bug. */
export type BugStatus = "open" | "resolved";

/** Summary of a bug. */
export interface BugSummary {
  actual?: string;
  id: string;
  page?: string;
  scope?: RecordScope;
  severity: Severity;
  status: BugStatus;
  title: string;
}

/** A page of bugs, newest first. */
export interface Bugs {
  bugs: Bug[];
  counts: BugCounts;
  nextCursor?: number;
}

/** Property by which a node is selected. */
export type By = "text" | "label" | "desc" | "resId" | "class" | "ref";

/** Progress of a call: the parameters of an `rpc.progress` notification. */
export interface CallProgress {
  done: number;
  id: string | number;
  message: string;
  total?: number;
}

/** Category of an event. */
export type Category = "act" | "verify" | "recover";

/** A change to the visual memory. */
export interface Change {
  app: string;
  at: number;
  id: number;
  op: ChangeOp;
  site?: string;
  uid: string;
  undoneAt?: number;
  what: string;
  why: string;
}

/** Kind of change to the visual memory. */
export type ChangeOp = "forget" | "merge" | "rename" | "delete" | "cleanup";

/** A page of changes, newest first. */
export interface Changes {
  changes: Change[];
  nextCursor?: number;
}

/** Result of `visual.cleanup`. */
export interface CleanupResult {
  app: string;
  changes: RemovedComponent[];
  dryRun: boolean;
  site?: string;
}

/** Result of clearing a context. */
export interface ClearResult {
  messages: number;
  session: string;
}

/** Column of a screen row. */
export type Column = "id" | "class" | "text" | "desc" | "resId" | "bounds" | "flags";

/** Result of compacting a conversation. */
export interface CompactResult {
  facts: number;
  messages: number;
  session: string;
  summary?: SummaryInfo;
  tokensAfter: number;
  tokensBefore: number;
}

/** A finished task. */
export interface CompletedTask {
  completedAt: string;
  description: string;
  id: string;
  scope?: RecordScope;
  status: TaskStatus;
  summary: string;
}

/** A component: an element that was learned. */
export interface Component {
  bounds?: string;
  confidence?: number;
  consecutiveMisses: number;
  hasPicture: boolean;
  label?: string;
  lastSeen: number;
  learnedAt: number;
  name: string;
  origin?: string;
  resId?: string;
  seenCount: number;
  source: string;
  states: string[];
  type: string;
  uid: string;
}

/** A page of components, in the order in which they were learned. */
export interface Components {
  app: string;
  components: Component[];
  nextCursor?: number;
  site?: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface ConfigureResultReply {
  before: DeviceConfiguration;
  device: string;
  durationMs: number;
  eventId: string;
  look?: Look;
  recorded?: boolean;
  replayed?: boolean;
  session: string;
  traceId: string;
}

/** Result of `device.connectUsb`. */
export interface ConnectUsbResult {
  configWritten: boolean;
  device: string;
  devicePort: number;
  deviceSerial: string;
  forwarded: boolean;
  hint: ConnectionHint;
  hintPath: string;
  localPort: number;
  nextStep?: string;
  printOnly: boolean;
  remoteUrl: string;
  reused: boolean;
  savedIn?: string;
  tokenConfigured: boolean;
  transport: string;
}

/** Connection to a device. */
export interface Connection {
  device?: string;
  devicePort?: number;
  localPort?: number;
  transport: string;
  url: string;
}

/** Connection hint: a file that describes the service of the phone's app and that can be read with `adb`. */
export interface ConnectionHint {
  packageName: string;
  servicePort: number;
  serviceRunning: boolean;
  updatedAt: number | null;
  versionCode: number | null;
  versionName: string | null;
}

/** Content of a message. */
export type Content = (string | MessagePart[]);

/** Base context of a screen observation. */
export interface Context {
  app: string | null;
  dialog?: string;
  elements?: Element[];
  hasWebView: boolean;
  hints: Hint[];
  incidents?: Incident[];
  mode: string;
  nodeReliability: string;
  observationId: string;
  outline?: string;
  page: PageRef;
  reason?: string;
  reliable: boolean;
  settled: boolean;
  since?: string;
  tools?: PublishedTool[];
  topActivity: string | null;
  toward?: Toward;
}

/** A part of a context. */
export interface ContextPart {
  messages: number;
  part: string;
  tokens: number;
}

/** A conversation of a session. */
export interface ConversationInfo {
  conversation: string;
  messages: number;
  tokens: number;
  uid: string;
}

/** A session's coverage of the pages and elements in the visual memory. */
export interface Coverage {
  app?: string;
  coveragePercent: number;
  elements: Share;
  elementsTested: number;
  pages: Share;
  pagesTested: Share;
  pagesVisited: number;
}

/** The active task. */
export interface CurrentTask {
  description: string;
  id: string;
  lastAction: string;
  progress: string;
  scope?: RecordScope;
  startedAt: string;
}

/** Status of the daemon. */
export interface DaemonStatus {
  callsInFlight: number;
  config: string;
  configError?: string;
  configWarnings: string[];
  connections: number;
  database: string;
  devices: DeviceInfo[];
  lastBackupAt?: number;
  log?: string;
  pid: number;
  sizes: Sizes;
  socket: string;
  store: StoreStatus;
  tasks: TaskInfo[];
  uptimeMs: number;
  version: string;
}

/** Version and capabilities of the daemon, which do not change while it runs. */
export interface DaemonVersion {
  capabilities: string[];
  pid: number;
  protocol: number;
  startedAt: number;
  version: string;
}

/** Result of deleting a message. */
export interface DeleteMessageResult {
  backups?: string[];
  derived: number;
  filesLeft?: string[];
  position: number;
  session: string;
}

/** Result of `pattern.delete` and `pageModel.delete`. */
export interface DeleteResult {
  id: number;
  uid: string;
}

/** Result of `session.delete`. */
export interface Deleted {
  backups?: string[];
  derived: number;
  filesLeft?: string[];
  findings: number;
  kept: number;
  messages: number;
  remainder?: string;
  session: string;
  tasks: number;
  uid: string;
}

/** Result of `artifact.delete`. */
export interface DeletedArtifact {
  artifactId: number;
  fileDeleted: boolean;
}

/** Result of `backup.delete`. */
export interface DeletedBackup {
  name: string;
}

/** Result of `memory.delete`. */
export interface DeletedNote {
  backups?: string[];
  chainLength: number;
  id: number;
  uid: string;
}

/** An element that a detector found in a picture. */
export interface Detection {
  box: number[];
  confidence?: number;
  crop?: string;
  label?: string;
  name?: string;
  type?: string;
}

/** Settings of a device. */
export interface DeviceConfiguration {
  airplaneMode?: boolean;
  darkMode?: boolean;
  locale?: string;
  localeApp?: string;
  orientation?: Orientation;
}

/** A device and its last known state. */
export interface DeviceInfo {
  capabilities: string[];
  error?: string;
  kind: string;
  lastSeenAt?: number;
  lease?: LeaseInfo;
  name: string;
  source: DeviceSource;
  state: DeviceState;
  url: string;
  waiting: number;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface DeviceLogReply {
  device: string;
  lines: LogRow[];
  recorded?: boolean;
  session: string;
  sinceMs: number;
  traceId: string;
  truncated: boolean;
}

/** Origin of a device. */
export type DeviceSource = "config" | "runtime" | "call";

/** Last known state of a device. */
export type DeviceState = "unknown" | "ready" | "unreachable" | "unauthorized" | "failing";

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface DeviceTabListReply {
  device: string;
  recorded?: boolean;
  session: string;
  tabs: TabInfo[];
  traceId: string;
}

/** How a method uses the `device` parameter. */
export type DeviceUse = "none" | "filter" | "observed" | "reached";

/** Result of `device.list`: all devices. */
export interface Devices {
  devices: DeviceInfo[];
}

/** Result of `daemon.doctor`. */
export interface Diagnosis {
  findings: Finding[];
  ok: boolean;
}

/** Direction of a scroll. */
export type Direction = "up" | "down" | "left" | "right";

/** An action that dismisses a pop-up. */
export interface Dismissal {
  action: string;
  count: number;
  probability: number;
}

/** A download. */
export interface DownloadInfo {
  artifact?: SavedArtifact;
  bytes: number;
  name: string;
  state: DownloadStatus;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface DownloadListReply {
  device: string;
  downloads: DownloadInfo[];
  recorded?: boolean;
  session: string;
  traceId: string;
}

/** What became of a download. */
export type DownloadStatus = "running" | "complete" | "failed";

/** Result of `observe.dump`. */
export interface DumpOutline {
  interactive: number;
  outline: string;
  size?: number[];
}

/** Effect of a method. */
export type Effect = "read" | "act" | "admin";

/** An element on the screen, including plain text. */
export interface Element {
  depth: number;
  disabled?: boolean;
  label?: string;
  leadsTo?: LeadsTo;
  ref?: string;
  risky?: boolean;
  role: Role;
  value?: string;
}

/** State of an element. */
export type ElementState = "on" | "off" | "enabled" | "disabled" | "gone";

/** An embedding model. */
export interface EmbeddingModel {
  dimensions?: number;
  embedded: number;
  error?: string;
  identity: string;
  pending: number;
}

/** Result of `session.end`. */
export interface EndResult {
  compacted: number;
  endedAt: number;
  progressFile?: string;
  report: ReportResult;
  session: string;
  summary: string;
  warnings?: string[];
}

/** Number of entries of a given type. */
export interface EntryCount {
  count: number;
  type: string;
}

/** Type of a recall entry. */
export type EntryType = "note" | "bug" | "result" | "page" | "pattern" | "session" | "state" | "fact" | "preference" | "procedure" | "message";

/** Reason why a call failed. */
export type ErrorCode = "INVALID_PARAMS" | "DEVICE_UNKNOWN" | "DEVICE_AMBIGUOUS" | "DEVICE_BUSY" | "DEVICE_UNREACHABLE" | "DEVICE_AUTH" | "DEVICE_ERROR" | "OUTCOME_UNKNOWN" | "REF_ALIAS_UNOBSERVED" | "REF_ALIAS_STALE" | "TARGET_NOT_FOUND" | "TARGET_AMBIGUOUS" | "ASSERTION_FAILED" | "NOT_FOUND" | "CONFLICT" | "TIMEOUT" | "UNSUPPORTED" | "REFUSED" | "LIMIT_EXCEEDED" | "SHUTTING_DOWN" | "STORE_UNAVAILABLE" | "STORE_FULL" | "INTERNAL" | "CANCELLED" | "TARGET_COVERED" | "TEXT_DIFFERS" | "STORE_BUSY" | "PARSE_ERROR" | "INVALID_REQUEST" | "UNKNOWN_METHOD";

/** Quality of the results that one search method returns. */
export interface Evaluation {
  mrr: number;
  p50Ms: number;
  p99Ms: number;
  recallAt10: number;
  recallAt25: number;
  recallAt5: number;
  way: string;
  weak?: number;
  weakUnanswered?: number;
}

/** Evaluation of each search method on a set of queries. */
export interface EvaluationGroup {
  name: string;
  queries: number;
  unanswered: number;
  ways: Evaluation[];
}

/** A recorded action, verification or recovery. */
export interface Event {
  action?: Action;
  activity?: string;
  app?: string;
  at: number;
  category: Category;
  cursor: number;
  device: string;
  durationMs: number;
  evidence?: unknown;
  failureCause?: string;
  op: string;
  page?: PageRef;
  parent?: string;
  seq: number;
  session: string;
  status: EventStatus;
  traceId: string;
  uid: string;
}

/** Outcome of an event. */
export type EventStatus = "ok" | "failed" | "unknown";

/** Result of `memory.experience`: the closest matches first; among equally close matches, the best first. */
export interface Experience {
  recoveries: Recovery[];
  transitions: Transition[];
}

/** Complete record of a session. */
export interface Export {
  artifacts: Artifact[];
  blockers: string[];
  bugs: Bug[];
  context: Record<string, string>;
  conversations?: ExportedConversation[];
  coverage: Coverage;
  durationMs: number;
  events: Event[];
  format: string;
  info: SessionInfo;
  messages: RecordedMessage[];
  nextSteps: string[];
  notes: Note[];
  pages: VisitedPage[];
  patterns: Pattern[];
  results: TestResult[];
  statistics: Statistics;
  summaries: SummaryInfo[];
  summary: string;
  tasks: Task[];
  tested: TestedElement[];
  version: number;
}

/** Format of an export. */
export type ExportFormat = "document" | "lines";

/** Result of `session.export`: the document, or the location of the file. */
export interface ExportResult {
  artifactId?: number;
  document?: Export;
  file?: string;
  session: string;
  sizeBytes: number;
}

/** A conversation with its messages. */
export interface ExportedConversation {
  conversation: string;
  messages: RecordedMessage[];
  summaries: SummaryInfo[];
}

/** Result of `memory.export`. */
export interface ExportedMemory {
  bytes: number;
  file: string;
  records: Record<string, number>;
}

/** Export result for an app or site. */
export interface ExportedScope {
  app: string;
  components: number;
  dir: string;
  missingPictures: number;
  pictures: number;
  site?: string;
  states: number;
  transitions: number;
}

/** Remark about data that was skipped or changed. */
export interface FileRemark {
  file: string;
  key: string;
  why: string;
}

/** Result of a check. */
export interface Finding {
  advice?: string;
  check: string;
  level: Level;
  message: string;
}

/** Outcome of a task. */
export type FinishStatus = "passed" | "failed" | "skipped";

/** A component that was found. */
export interface FoundComponent {
  bounds: string;
  how: MatchStage;
  likeness: number;
  moved: boolean;
  name: string;
  x: number;
  y: number;
}

/** A message found by `conversation.search`. */
export interface FoundMessage {
  at: number;
  conversation: string;
  name?: string;
  position: number;
  role: MessageRole;
  score: number;
  session: string;
  text: string;
  uid: string;
}

/** Result of `conversation.search`, best match first. */
export interface FoundMessages {
  matched: TermMatch;
  messages: FoundMessage[];
  missing?: string[];
}

/** The `function` or `custom` field of a tool call in OpenAI's format. */
export interface Function {
  arguments?: unknown;
  name: string;
}

/** A step of a walk. */
export interface GoStep {
  action: string;
  asExpected?: boolean;
  eventId?: string;
  expected?: string;
  failureCause?: string;
  kind: GoStepKind;
  ledTo?: string;
  probability?: number;
}

/** Purpose of a step. */
export type GoStepKind = "way" | "dismiss" | "explore" | "scroll" | "open" | "recover";

/** Why a walk ended. */
export type GoStop = "arrived" | "noWay" | "changed" | "risky" | "needsText" | "login" | "covered" | "unreadable" | "disturbed" | "failed" | "limit" | "timeout" | "elsewhere" | "cancelled" | "interrupted";

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface GoToResultReply {
  arrived: boolean;
  at?: StateRef;
  device: string;
  durationMs: number;
  failureCause?: string;
  goal: string;
  look?: Look;
  recorded?: boolean;
  replayed?: boolean;
  session: string;
  steps: GoStep[];
  stopped: GoStop;
  text: string;
  traceId: string;
}

/** Output format of a graph. */
export type GraphFormat = "dot" | "mermaid" | "svg";

/** A transition between two states. */
export interface GraphTransition {
  action: string;
  attempts: number;
  count: number;
  from: string;
  fromName?: string;
  key: string;
  lastUsed?: number;
  meanMs?: number;
  probability: number;
  selector?: TargetSelector;
  successRate: number;
  target?: Target;
  to: string;
  toName?: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface HealthReply {
  connection: Connection;
  device: string;
  durationMs: number;
  kind: string;
  recorded?: boolean;
  session: string;
  status: string;
  token: string;
  traceId: string;
}

/** Knowledge that helps on the current page. */
export interface Hint {
  alias?: string;
  confidence: number;
  evidence: string[];
  first?: string;
  kind: HintKind;
  outcome?: string;
  selector?: TargetSelector;
  target?: Target;
  text: string;
}

/** Kind of hint. */
export type HintKind = "action" | "failure" | "recovery" | "interrupt" | "rule" | "flaky" | "baseline";

/** Hints to return: `false` for none, `true` for the most useful hints, `"all"` for all hints. */
export type HintsWanted = (boolean | AllHints);

/** Counts of the imported records of one type. */
export interface ImportCounts {
  added: number;
  leftOut: number;
  present: number;
  renewed: number;
}

/** Import result for a setting or row. */
export type ImportOutcome = "added" | "present" | "cleaned" | "skipped";

/** Result of `memory.importAf`. */
export interface ImportReport {
  artifacts: Tally;
  dryRun: boolean;
  events: Tally;
  notes: Tally;
  recoveries: Tally;
  remarkCount: number;
  remarks: Remark[];
  settings: ImportedSetting[];
  transitions: Tally;
}

/** Result of `session.import`. */
export interface Imported {
  inserted: Record<string, number>;
  leftOut: number;
  present: number;
  renewed: number;
  session: string;
  uid: string;
}

/** Result of `memory.import`. */
export interface ImportedMemory {
  dryRun: boolean;
  records: Record<string, ImportCounts>;
  remarks?: string[];
}

/** Import result for an app or site. */
export interface ImportedScope {
  app: string;
  components: Tally;
  dir: string;
  pictures: Tally;
  remarks: FileRemark[];
  site?: string;
  states: Tally;
  transitions: Tally;
}

/** Import result for a setting. */
export interface ImportedSetting {
  key: string;
  outcome: ImportOutcome;
  remark: string;
}

/** An app that crashed or does not respond. */
export interface Incident {
  app: string;
  kind: IncidentKind;
  report: string;
}

/** What happened to an app. */
export type IncidentKind = "crash" | "notResponding";

/** A pop-up that appears over several states on its own. */
export interface Interrupt {
  dismissals: Dismissal[];
  over: string[];
}

/** Kind of named item. */
export type ItemKind = "component" | "state";

/** A background job. */
export interface Job {
  about: string;
  everyMs: number;
  lastDurationMs?: number;
  lastError?: string;
  lastResult?: string;
  lastRunAt?: number;
  name: string;
  running: boolean;
  runs: number;
}

/** Result of `job.list`: all jobs. */
export interface Jobs {
  jobs: Job[];
}

/** A device key that can be pressed, such as Back or Home. */
export type KeyName = "home" | "back" | "up" | "down" | "left" | "right" | "volume-up" | "volume-down" | "power" | "tab" | "space" | "enter" | "delete" | "forward-delete" | "end" | "page-up" | "page-down" | "forward" | "reload" | "menu" | "search" | "escape" | "recent";

/** Change in the state of the on-screen keyboard. */
export type KeyboardChange = "opened" | "closed";

/** Findings of the last session about an app. */
export interface LastFound {
  endedAt?: number;
  found?: string[];
  results: ResultCounts;
  session: string;
  summary?: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface LastPageReply {
  at: number;
  device: string;
  observationId: string;
  outdated: boolean;
  outline: string;
  recorded?: boolean;
  seenBy: string;
  session: string;
  settled: boolean;
  traceId: string;
}

/** The most likely outcome of tapping an element. */
export interface LeadsTo {
  dialog?: boolean;
  guess?: boolean;
  kind: OutcomeKind;
  name?: string;
  probability: number;
  state?: string;
}

/** Result of `visual.learn`. */
export interface LearnResult {
  app: string;
  learnCount: number;
  missed: number;
  newComponents: number;
  newState: boolean;
  picture?: string;
  seen: number;
  site?: string;
  skipped?: string[];
  source: string;
  state?: StateRef;
}

/** Exclusive right of a session to act on a device, for a limited time. */
export interface LeaseInfo {
  remainingMs: number;
  session: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface LeaseResultReply {
  device: string;
  lease: LeaseInfo;
  recorded?: boolean;
  session: string;
  traceId: string;
}

/** Open work from earlier sessions about an app, as far as it is shared with other sessions of the app. */
export interface LeftOpen {
  blockers?: string[];
  bugs: string[];
  bugsTotal: number;
  endedAt?: number;
  goal?: string;
  last?: LastFound;
  nextSteps?: string[];
  session?: string;
  summary?: string;
  tasks: string[];
  tasksTotal: number;
}

/** Severity of a check result. */
export type Level = "ok" | "warning" | "error";

/** A possible outcome of an action. */
export interface LikelyOutcome {
  dialog?: boolean;
  kind: OutcomeKind;
  name?: string;
  probability: number;
  state?: string;
}

/** A page of events, newest first. */
export interface Log {
  events: Event[];
  nextCursor?: number;
}

/** Severity of a line of a log, in ascending order. */
export type LogLevel = "verbose" | "debug" | "info" | "warning" | "error" | "fatal";

/** A line of a device's log. */
export interface LogRow {
  at: number;
  level: LogLevel;
  pid: number;
  tag: string;
  text: string;
}

/** Outcome of an action. */
export interface Look {
  asExpected?: boolean;
  changed: boolean | null;
  expected?: string;
  incidents?: Incident[];
  keyboard?: KeyboardChange;
  news?: string;
  note?: string;
  observation?: Context;
  refs?: RefRows;
  surprise?: Surprise;
  waitedMs: number;
  warning?: string;
}

/** Elements to mark. */
export type MarkScope = "all" | "interactive";

/** How expected text is compared with the actual text. */
export type MatchMode = "contains" | "equals";

/** Result of `visual.match`. */
export interface MatchResult {
  app: string;
  flat: string[];
  found: FoundComponent[];
  lookedFor: number;
  missing: string[];
  site?: string;
  tookMs: number;
}

/** Search step in which a component was found. */
export type MatchStage = "inPlace" | "coarsely" | "thoroughly";

/** A message of a conversation. */
export interface Message {
  content?: Content;
  extra?: Record<string, unknown>;
  failed?: boolean;
  name?: string;
  role: MessageRole;
  toolCallId?: string;
  toolCalls?: ToolCall[];
}

/** Message format. */
export type MessageFormat = "afd" | "openai" | "anthropic";

/** A part of a message. */
export type MessagePart = ({
  text: string;
  type: "text";
} | {
  artifact?: string;
  data?: string;
  height?: number;
  mediaType?: string;
  type: "image";
  url?: string;
  width?: number;
});

/** Author of a message. */
export type MessageRole = "system" | "user" | "assistant" | "tool";

/** A message with the cursor from which a subscriber can resume. */
export type MessageWithCursor = {
  cursor?: number;
} & (Event | ObservationNotice | {
  device: string;
  kind: "device";
  state: DeviceState;
} | SurpriseNotice | Change | {
  kind: "changed";
  method: string;
  session?: string;
} | {
  kind: "lagged";
  missed: number;
});

/** A page of messages, newest first. */
export interface Messages {
  messages: RecordedMessage[];
  nextCursor?: number;
}

/** Result of `daemon.methods`. */
export interface MethodList {
  methods: MethodSummary[];
}

/** Call statistics of one method since the start of the daemon. */
export interface MethodLoad {
  calls: number;
  errors: number;
  maxUs: number;
  meanUs: number;
  name: string;
}

/** A row of the method table, without the schemas. */
export interface MethodSummary {
  effect: Effect;
  errors: ErrorCode[];
  name: string;
  requestKey: boolean;
  summary: string;
  takes: SharedParams;
}

/** Result of `daemon.metrics`. */
export interface Metrics {
  methods: MethodLoad[];
  text: string;
}

/** Result of `model.add`. */
export interface ModelAdded {
  dimensions: number;
  directory: string;
  identity: string;
  pending: number;
  sentenceMs: number;
}

/** Messages for the model's next turn. */
export interface ModelContext {
  allocation: Allocation;
  budget: number;
  context: Record<string, string>;
  leftOut: Omission[];
  messages: unknown[];
  parts: ContextPart[];
  savedPercent: number;
  session: string;
  stableMessages: number;
  system?: unknown[];
  tokenizer: string;
  tokens: number;
  tokensOfAll: number;
  toolsTokens: number;
}

/** Result of `model.remove`. */
export interface ModelRemoved {
  deleted: number;
}

/** A note. */
export interface Note {
  app?: string;
  content: string;
  createdAt: number;
  id: number;
  origin?: string;
  position: number;
  scope?: RecordScope;
  score?: number;
  session: string;
  snippet?: string;
  topic: string;
  uid: string;
}

/** A page of notes. */
export interface Notes {
  matched?: TermMatch;
  missing?: string[];
  nextCursor?: number;
  notes: Note[];
}

/** Format of an observation. */
export type ObservationFormat = "outline" | "rows";

/** Notification that a session has observed a device. */
export interface ObservationNotice {
  activity: string | null;
  at: number;
  device: string;
  observationId: string;
  seq: number;
  session: string;
  settled: boolean;
  source: ObservationSource;
}

/** Kind of call that observed a screen. */
export type ObservationSource = "top" | "screen" | "refs" | "page" | "wait" | "verify" | "learn";

/** Content that was omitted from a context. */
export interface Omission {
  count: number;
  tokens: number;
  what: string;
  why: string;
}

/** Orientation of a screen. */
export type Orientation = "portrait" | "landscape" | "auto";

/** An outcome of an action, and how often it occurred. */
export interface Outcome {
  count: number;
  dialog: boolean;
  failureCause?: string;
  kind: OutcomeKind;
  meanMs?: number;
  name?: string;
  page?: PageRef;
  share: number;
  verifiedCount: number;
}

/** Kind of outcome of an action. */
export type OutcomeKind = "page" | "same" | "nothing" | "failed" | "refuted";

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface OverlayReply {
  autoRefresh: boolean;
  available: boolean;
  device: string;
  enabled: boolean;
  markCount: number;
  offsetX: number;
  offsetY: number;
  recorded?: boolean;
  refreshIntervalMs: number;
  session: string;
  traceId: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface PackagesReply {
  device: string;
  packages: string[];
  recorded?: boolean;
  session: string;
  traceId: string;
}

/** An element of a page model. */
export interface PageElement {
  name: string;
  role?: string;
  rule?: string;
  selector?: string;
}

/** A model of a page. */
export interface PageModel {
  app?: string;
  elements: PageElement[];
  id: number;
  origin?: string;
  page: string;
  pageType: string;
  seenCount: number;
  similarity?: number;
  stabilityScore: number;
  uid: string;
  updatedAt: number;
}

/** Result of `pageModel.find`, most similar first. */
export interface PageModels {
  page?: string;
  pageModels: PageModel[];
}

/** Identity of a page. */
export interface PageRef {
  fingerprint: string;
  key: string;
  state?: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface PageReply {
  app: string | null;
  device: string;
  dialog?: string;
  elements?: Element[];
  hasWebView: boolean;
  hints: Hint[];
  incidents?: Incident[];
  mode: string;
  nodeReliability: string;
  observationId: string;
  outline?: string;
  page: PageRef;
  reason?: string;
  recorded?: boolean;
  refs?: RefRows;
  reliable: boolean;
  screen?: ScreenRows;
  session: string;
  settled: boolean;
  since?: string;
  tools?: PublishedTool[];
  topActivity: string | null;
  toward?: Toward;
  traceId: string;
}

/** Details of a page observation. */
export interface PageSnapshot {
  contentHash?: string;
  fingerprint?: string;
  nodeCount?: number;
  observationId: string;
  refCount?: number;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface PageTextReply {
  device: string;
  lines: string[];
  next?: number;
  observationId: string;
  recorded?: boolean;
  session: string;
  title?: string;
  traceId: string;
  whole: boolean;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface PageToolResultReply {
  artifact?: SavedArtifact;
  device: string;
  durationMs: number;
  eventId: string;
  look?: Look;
  output?: string;
  recorded?: boolean;
  replayed?: boolean;
  session: string;
  traceId: string;
  truncated?: boolean;
}

/** Part of a page observation. */
export type Part = "screen" | "refs";

/** Result of `visual.path`. */
export interface Path {
  alternatives?: Route[];
  app: string;
  from: StateRef;
  interrupts?: State[];
  known: boolean;
  nearest?: StateRef;
  route?: Route;
  site?: string;
  text: string;
  to: StateRef;
}

/** A pattern: a learned statement with its confidence. */
export interface Pattern {
  app?: string;
  confidence: number;
  createdAt: number;
  data?: unknown;
  failureCount: number;
  id: number;
  kind: PatternKind;
  lastUsedAt?: number;
  origin?: string;
  page?: string;
  scope: PatternScope;
  session?: string;
  source?: string;
  successCount: number;
  text: string;
  uid: string;
  usageCount: number;
}

/** Kind of pattern. */
export type PatternKind = "keyFact" | "flakyElement" | "validationRule" | "visualBaseline" | "userPreference" | "solution" | "procedure";

/** Visibility of a learned pattern. */
export type PatternScope = "session" | "app" | "everybody";

/** Result of `pattern.find` and `pattern.list`. */
export interface Patterns {
  page?: string;
  patterns: Pattern[];
}

/** A pending task. */
export interface PendingTask {
  blockedBy?: string[];
  description: string;
  id: string;
  priority: number;
  scope?: RecordScope;
}

/** File format of a picture. */
export type PictureFormat = "jpeg" | "png";

/** A point in device pixels, from the top left of the screen. */
export interface Point {
  x: number;
  y: number;
}

/** An action and the outcomes to expect of it. */
export interface PredictedAction {
  action: Action;
  alias?: string;
  attempts: number;
  from: PredictedFrom;
  guess?: boolean;
  outcomes: LikelyOutcome[];
  text: string;
  unknown: number;
}

/** Where the nearest attempts were made from which an action is predicted. */
export type PredictedFrom = "page" | "activity" | "app" | "rows" | "role";

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface PredictionsReply {
  before?: string;
  device: string;
  observationId: string;
  page: PageRef;
  predictions: PredictedAction[];
  recorded?: boolean;
  session: string;
  traceId: string;
}

/** Machine-readable progress of a session; the content of a progress file. */
export interface Progress {
  agentVersion: string;
  app?: string;
  blockers: string[];
  bugs: BugSummary[];
  completedTasks: CompletedTask[];
  context: Record<string, string>;
  coverage: ProgressCoverage;
  criticalFindings: string[];
  currentTask: (CurrentTask | null);
  goal?: string;
  lastCommit: string | null;
  nextSteps: string[];
  pages?: VisitedPage[];
  pendingTasks: PendingTask[];
  results?: ResultSummary[];
  scope?: RecordScope;
  sessionId: string;
  startedAt?: string;
  stated?: Stated;
  statistics: Statistics;
  summary: string;
  tested?: TestedElement[];
  timestamp: string;
  uncommittedChanges: string[];
}

/** Summary of the coverage. */
export interface ProgressCoverage {
  coveragePercent: number;
  elementsTestedCount: number;
  pagesVisited: string[];
}

/** Result of `session.progress`. */
export interface ProgressResult {
  auto: boolean;
  file: string;
  progress: Progress;
  reportFile: string;
  session: string;
  warnings?: string[];
}

/** Result of `memory.prune`. */
export interface Pruned {
  before: number;
  dryRun: boolean;
  events: number;
  observations: number;
  usedBytes: number;
}

/** A tool that a page publishes. */
export interface PublishedTool {
  description?: string;
  inputSchema?: unknown;
  name: string;
  readOnly?: boolean;
}

/** State of the upload to a Qdrant server. */
export interface QdrantStatus {
  collection?: string;
  error?: string;
  pending: number;
  url: string;
}

/** Result of `recall.context`. */
export interface RecallContext {
  entries: string[];
  missing?: string[];
  task: string;
  text: string;
  tokens: number;
}

/** Result of `recall.delete`. */
export interface RecallDeleted {
  backups?: string[];
  qdrant?: string;
  uid: string;
}

/** A recall entry. */
export interface RecallEntry {
  app?: string;
  at: number;
  confidence: number;
  cut?: boolean;
  duplicates?: string[];
  expiresAt?: number;
  id?: number;
  lastUsedAt?: number;
  origin?: string;
  related?: string[];
  scope: PatternScope;
  score?: number;
  session?: string;
  site?: string;
  source: string;
  tags?: string[];
  text: string;
  title?: string;
  type: EntryType;
  uid: string;
  useCount?: number;
  weak?: boolean;
  why?: Why;
}

/** Result of `recall.evaluate`. */
export interface RecallEvaluated {
  entries: number;
  groups: EvaluationGroup[];
  model: string;
}

/** Result of `recall.search`. */
export interface RecallFound {
  entries: RecallEntry[];
  missing?: string[];
  model: string;
}

/** Result of `recall.status`. */
export interface RecallStatus {
  due: number;
  entries: EntryCount[];
  indexBytes: number;
  models: EmbeddingModel[];
  qdrant?: QdrantStatus;
}

/** Result of `recall.store`. */
export interface RecallStored {
  entry: RecallEntry;
  missing?: string[];
  similar: RecallEntry[];
  updated?: boolean;
}

/** Result of `recall.upkeep`. */
export interface RecallUpkeep {
  changes: UpkeepChange[];
  dryRun: boolean;
  runs: UpkeepRun[];
  similar?: SimilarPatterns[];
  similarCount: number;
}

/** Summary of an observation. */
export interface RecentObservation {
  activity?: string;
  app?: string;
  at: number;
  device: string;
  observationId: string;
  pageKey?: string;
  reliable: boolean;
  settled: boolean;
  source: ObservationSource;
}

/** Visibility of a record: a note, bug, test result or task, or the digest of a session. */
export type RecordScope = "app" | "session";

/** A recorded message. */
export interface RecordedMessage {
  at: number;
  content?: Content;
  extra?: Record<string, unknown>;
  failed?: boolean;
  inContext: boolean;
  name?: string;
  origin?: string;
  position: number;
  role: MessageRole;
  tokenizer: string;
  tokens: number;
  toolCallId?: string;
  toolCalls?: ToolCall[];
  turn: number;
  uid: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface RecordingSavedReply {
  artifact: SavedArtifact;
  device: string;
  durationMs: number;
  recorded?: boolean;
  session: string;
  sizeBytes: number;
  traceId: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface RecordingStartedReply {
  device: string;
  maxMs: number;
  recorded?: boolean;
  session: string;
  traceId: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface RecoverAutoResultReply {
  at?: StateRef;
  device: string;
  durationMs: number;
  failedWith?: string;
  failureCause?: string;
  failureEventId?: string;
  look?: Look;
  recorded?: boolean;
  recovered: boolean;
  replayed?: boolean;
  session: string;
  steps: RecoverStep[];
  stopped: RecoverStop;
  text: string;
  traceId: string;
}

/** Why an action was chosen to recover. */
export type RecoverBasis = "known" | "dismiss" | "back" | "relaunch" | "home";

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface RecoverResultReply {
  device: string;
  durationMs: number;
  eventId: string;
  failureCause?: string;
  failureEventId?: string;
  look?: Look;
  recorded?: boolean;
  replayed: boolean;
  result: string;
  session: string;
  traceId: string;
}

/** An action that was taken to recover. */
export interface RecoverStep {
  action: string;
  basis: RecoverBasis;
  eventId?: string;
  failureCause?: string;
  ledTo?: string;
  tried?: number;
  worked?: number;
}

/** Why a recovery ended. */
export type RecoverStop = "recovered" | "nothingLeft" | "unsaved" | "disturbed" | "failed" | "limit" | "timeout" | "cancelled" | "interrupted";

/** Experience with a recovery from a failure. */
export interface Recovery {
  failureCause: string;
  failureCount: number;
  lastSuccessAt?: number;
  leftAppCount: number;
  matchScope: Scope;
  preActivity: string;
  preName?: string;
  prePage: PageRef;
  recovery: Action;
  successCount: number;
  text: string;
  uid: string;
  undecidedCount: number;
}

/** A ref: an interactive element with an alias. */
export interface RefRow {
  bounds: string;
  class: string;
  desc?: string;
  detail?: string;
  flags: string;
  label: string;
  leadsTo?: LeadsTo;
  nodeId: string;
  ref: string;
  resId?: string;
  risky?: boolean;
  text?: string;
  title?: string;
  window?: string;
}

/** Refs of an observation. */
export interface RefRows {
  artifact?: SavedArtifact;
  refCount: number;
  refVersion: number;
  returnedRows: number;
  rows: RefRow[];
  rowsInArtifact?: boolean;
  truncated: boolean;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface RefsReply {
  app: string | null;
  artifact?: SavedArtifact;
  device: string;
  dialog?: string;
  elements?: Element[];
  hasWebView: boolean;
  hints: Hint[];
  incidents?: Incident[];
  mode: string;
  nodeReliability: string;
  observationId: string;
  outline?: string;
  page: PageRef;
  reason?: string;
  recorded?: boolean;
  refCount: number;
  refVersion: number;
  reliable: boolean;
  returnedRows: number;
  rows: RefRow[];
  rowsInArtifact?: boolean;
  session: string;
  settled: boolean;
  since?: string;
  tools?: PublishedTool[];
  topActivity: string | null;
  toward?: Toward;
  traceId: string;
  truncated: boolean;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface ReleaseResultReply {
  device: string;
  recorded?: boolean;
  released: boolean;
  session: string;
  traceId: string;
}

/** Result of reloading the configuration file. */
export interface ReloadResult {
  added: string[];
  changed: string[];
  removed: string[];
  restartNeeded: string[];
  warnings: string[];
}

/** Remark about a row that was corrected or skipped. */
export interface Remark {
  id: number;
  outcome: ImportOutcome;
  table: string;
  why: string;
}

/** Result of `device.remove`. */
export interface RemoveResult {
  removed: string;
}

/** A component that was deleted because its text is dynamic. */
export interface RemovedComponent {
  component: string;
  historyId?: number;
  why: string;
}

/** Result of `visual.rename`. */
export interface RenameResult {
  app: string;
  historyId: number;
  kind: ItemKind;
  new: string;
  old: string;
  site?: string;
}

/** Result of `visual.graph`. */
export interface RenderedGraph {
  app: string;
  artifact?: SavedArtifact;
  format: GraphFormat;
  graph?: string;
  site?: string;
  states: number;
  transitions: number;
}

/** Format of a report. */
export type ReportFormat = "html" | "markdown" | "junit" | "json";

/** Result of `session.report`. */
export interface ReportResult {
  artifactId: number;
  file: string;
  format: ReportFormat;
  pictures: number;
  session: string;
  sizeBytes: number;
}

/** Number of test results by outcome. */
export interface ResultCounts {
  error: number;
  failed: number;
  passed: number;
  skipped: number;
  total: number;
}

/** Outcome of a test. */
export type ResultStatus = "passed" | "failed" | "skipped" | "error";

/** Summary of a test result. */
export interface ResultSummary {
  durationMs?: number;
  id: string;
  name: string;
  page?: string;
  scope?: RecordScope;
  status: ResultStatus;
  summary?: string;
}

/** A page of test results, newest first. */
export interface Results {
  counts: ResultCounts;
  nextCursor?: number;
  results: TestResult[];
}

/** Result of `session.resume`. */
export interface ResumeResult {
  context: Record<string, string>;
  fromFile: boolean;
  progress: Progress;
  reopened: boolean;
  resumptionPrompt: string;
  session: string;
  summary: string;
  taskQueue: Task[];
}

/** Role of an element. */
export type Role = "button" | "field" | "switch" | "row" | "list" | "image" | "text" | "web" | "view" | "any";

/** A route from one state to another. */
export interface Route {
  expectedMs: number;
  probability: number;
  steps: GraphTransition[];
}

/** A node of the screen. */
export interface Row {
  bounds?: string;
  class?: string;
  desc?: string;
  flags?: string;
  id?: string;
  resId?: string;
  text?: string;
}

/** Reference to a file that a call saved. */
export interface SavedArtifact {
  artifactId: number;
  contentHash: string;
  kind: string;
  mimeType: string;
  savedFile: string;
  sizeBytes: number;
}

/** Result of `memory.save`. */
export interface SavedNote {
  chainLength: number;
  missing?: string[];
  note: Note;
  similar: SimilarNote[];
}

/** How closely an experience matches the requested place. */
export type Scope = "state" | "page" | "activity" | "app";

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface ScreenReply {
  app: string | null;
  artifact?: SavedArtifact;
  device: string;
  dialog?: string;
  elements?: Element[];
  hasWebView: boolean;
  hints: Hint[];
  incidents?: Incident[];
  mode: string;
  nodeReliability: string;
  observationId: string;
  outline?: string;
  page: PageRef;
  reason?: string;
  recorded?: boolean;
  reliable: boolean;
  returnedRows: number;
  rowCount: number;
  rows: Row[];
  rowsInArtifact?: boolean;
  session: string;
  settled: boolean;
  since?: string;
  tools?: PublishedTool[];
  topActivity: string | null;
  toward?: Toward;
  traceId: string;
  truncated: boolean;
  windows?: WindowRow[];
}

/** Rows of the screen. */
export interface ScreenRows {
  artifact?: SavedArtifact;
  returnedRows: number;
  rowCount: number;
  rows: Row[];
  rowsInArtifact?: boolean;
  truncated: boolean;
  windows?: WindowRow[];
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface ScreenshotReply {
  annotate: boolean;
  artifact: SavedArtifact;
  device: string;
  deviceHeight?: number;
  deviceWidth?: number;
  height: number;
  hideOverlay: boolean;
  left?: number;
  markCount?: number;
  markScope?: MarkScope;
  maxDim: number;
  maxMarks?: number;
  mimeType: string;
  observationId?: string;
  quality: number;
  recorded?: boolean;
  refs?: RefRows;
  scale?: number;
  screenshotBase64?: string;
  session: string;
  settled?: boolean;
  sizeBytes: number;
  top?: number;
  traceId: string;
  width: number;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface ScrollToResultReply {
  device: string;
  durationMs: number;
  eventId: string;
  look?: Look;
  point?: Point;
  recorded?: boolean;
  replayed?: boolean;
  result: string;
  scrolls: number;
  session: string;
  target?: Target;
  traceId: string;
}

/** How entries are searched. */
export type SearchMode = "hybrid" | "text" | "vector";

/** A token or typed text; no response contains it. */
export type Secret = string;

/** Result of `memory.context`: the last observation of a session. */
export interface SessionContext {
  activity?: string;
  app?: string;
  device?: string;
  fingerprintSource?: string;
  found: boolean;
  hasWebView?: boolean;
  mode?: string;
  nodeReliability?: string;
  observationId?: string;
  observedAt?: number;
  pageFingerprint?: string;
  pageKey?: string;
  refVersion?: number;
  session: string;
  stale: boolean;
}

/** A session with all the information needed to continue it. */
export interface SessionDetails {
  app?: string;
  autoProgress: boolean;
  before?: LeftOpen;
  blockers: string[];
  bugs: BugCounts;
  context: Record<string, string>;
  conversations?: ConversationInfo[];
  coverage: Coverage;
  currentTask?: CurrentTask;
  directory?: string;
  endedAt?: number;
  goal?: string;
  lastActivityAt: number;
  nextSteps: string[];
  openBugs: Bug[];
  origin?: string;
  pages: VisitedPage[];
  queue: Task[];
  results: ResultCounts;
  scope?: RecordScope;
  session: string;
  startedAt: number;
  statistics: Statistics;
  status: SessionStatus;
  summary: string;
  tasks: TaskCounts;
  uid: string;
}

/** A session with counts of its tasks, bugs and test results. */
export interface SessionInfo {
  app?: string;
  autoProgress: boolean;
  bugs: BugCounts;
  directory?: string;
  endedAt?: number;
  goal?: string;
  lastActivityAt: number;
  origin?: string;
  results: ResultCounts;
  scope?: RecordScope;
  session: string;
  startedAt: number;
  status: SessionStatus;
  tasks: TaskCounts;
  uid: string;
}

/** Status of a session. */
export type SessionStatus = "active" | "ended";

/** A page of sessions, newest first. */
export interface Sessions {
  nextCursor?: number;
  sessions: SessionInfo[];
}

/** A setting. */
export interface Setting {
  about: string;
  key: string;
  needsRestart?: boolean;
  origin?: string;
  source: Source;
  value: unknown;
}

/** Result of `config.set` and `config.unset`. */
export interface SettingChange {
  about: string;
  changed: boolean;
  file: string;
  key: string;
  needsRestart?: boolean;
  origin?: string;
  source: Source;
  value: unknown;
}

/** Result of `config.list`: all settings. */
export interface Settings {
  file: string;
  settings: Setting[];
}

/** Severity of a bug, worst first. */
export type Severity = "critical" | "high" | "medium" | "low";

/** Coverage of one kind of item. */
export interface Share {
  covered: number;
  known: number;
  missing: string[];
  percent: number;
}

/** Which common parameters a method accepts, so that clients can fill them in from their own options. */
export interface SharedParams {
  device: DeviceUse;
  session: boolean;
  timeout: boolean;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface ShellResultReply {
  artifact?: SavedArtifact;
  device: string;
  durationMs: number;
  eventId: string;
  look?: Look;
  output?: string;
  recorded?: boolean;
  replayed?: boolean;
  session: string;
  traceId: string;
  truncated?: boolean;
}

/** Result of `daemon.shutdown`. */
export interface ShutdownResult {
  stopping: boolean;
}

/** A note with similar content. */
export interface SimilarNote {
  app?: string;
  content: string;
  createdAt: number;
  id: number;
  origin?: string;
  position: number;
  scope?: RecordScope;
  score?: number;
  session: string;
  similarity: number;
  snippet?: string;
  topic: string;
  uid: string;
}

/** Two patterns with the same subject and similar vectors. */
export interface SimilarPatterns {
  id: number;
  other: number;
  otherText: string;
  similarity: number;
  text: string;
}

/** Sizes on disk, in bytes. */
export interface Sizes {
  artifactBytes: number;
  backupBytes: number;
  walBytes: number;
}

/** Origin of a setting's value. */
export type Source = "flag" | "env" | "file" | "default";

/** A state: a page or dialog that is recognised if it is seen again. */
export interface State {
  definingComponents: string[];
  description?: string;
  firstSeen: number;
  id?: string;
  interrupt?: Interrupt;
  kind: StateKind;
  lastSeen: number;
  name?: string;
  origin?: string;
  place?: string;
  title?: string;
  uid: string;
  visibleTexts: string[];
  visitCount: number;
}

/** Kind of state. */
export type StateKind = "page" | "dialog" | "detected" | "opaque";

/** Reference to a state. */
export interface StateRef {
  id: string;
  name: string;
}

/** Number of next steps and blockers that the caller stated. */
export interface Stated {
  blockers: number;
  nextSteps: number;
}

/** Result of `visual.states`: states in the order in which they were learned. */
export interface States {
  app: string;
  hosts?: string[];
  site?: string;
  states: State[];
}

/** Statistics of a session. */
export interface Statistics {
  actionsPerformed: number;
  artifacts: number;
  assertionsFailed: number;
  assertionsPassed: number;
  errorsEncountered: number;
  messages: number;
  notes: number;
  observations: number;
}

/** Memory statistics. */
export interface Stats {
  artifacts: number;
  byFailureCause: Record<string, number>;
  byOp: Record<string, number>;
  byStatus: Record<string, number>;
  events: number;
  medianDurationMs?: number;
  notes: number;
  observations: number;
  recoveries: number;
  session?: string;
  sessions: number;
  transitions: number;
}

/** State of the memory database. */
export interface StoreStatus {
  advice?: string;
  damage?: string;
  pendingWrites: number;
  recorded?: boolean;
  schema: number;
  sizeBytes: number;
  writable: boolean;
}

/** Type of an entry that `recall.store` stores. */
export type StoredType = "fact" | "preference" | "procedure";

/** Rolling summary of a conversation, and the messages to send to the model. */
export interface Summary {
  compacted?: SummaryInfo;
  context: Record<string, string>;
  lines: string[];
  messages: Message[];
  savedPercent: number;
  session: string;
  tokens: number;
  tokensOfAll: number;
}

/** A summary that represents a range of messages. */
export interface SummaryInfo {
  after: number;
  createdAt: number;
  error?: string;
  method: string;
  model?: string;
  pending: boolean;
  text: string;
  tokens: number;
  upto: number;
}

/** An outcome that was not expected. */
export interface Surprise {
  expected: string;
  kind: SurpriseKind;
  name?: string;
  probability: number;
  text: string;
}

/** What came instead of the expected outcome. */
export type SurpriseKind = "popUp" | "login" | "error" | "nothing" | "otherPage" | "newPage" | "changed" | "otherApp" | "crash";

/** Notification that an action of a session had another outcome than expected. */
export interface SurpriseNotice {
  at: number;
  device: string;
  eventId: string;
  session: string;
  surprise: Surprise;
}

/** A tab of a browser. */
export interface TabInfo {
  current: boolean;
  tab: string;
  title: string;
  url: string;
  usedBy?: string;
}

/** Counts of the rows of a table, or of the entries of a file. */
export interface Tally {
  added: number;
  cleaned: number;
  found: number;
  present: number;
  skipped: number;
}

/** Description of an element that stays valid after the observation: never an alias, and never a position alone. */
export interface Target {
  class?: string;
  label?: string;
  name?: string;
  ordinal?: number;
  path?: string;
  resId?: string;
  role: Role;
  title?: string;
}

/** Parameters with which an action such as `act.tap` selects a target: `by` and `value`, or `x` and `y` for one of several equal elements. */
export interface TargetSelector {
  by?: By;
  value?: string;
  x?: number;
  y?: number;
}

/** A task. */
export interface Task {
  blockedBy?: number[];
  createdAt: number;
  description: string;
  finishedAt?: number;
  id: number;
  origin?: string;
  priority: number;
  progress?: string;
  scope?: RecordScope;
  session: string;
  startedAt?: number;
  status: TaskStatus;
  summary?: string;
  uid: string;
}

/** Number of tasks by status. */
export interface TaskCounts {
  active: number;
  failed: number;
  passed: number;
  pending: number;
  skipped: number;
}

/** A background task. */
export interface TaskInfo {
  lastError?: string;
  name: string;
  restarts: number;
  state: TaskState;
}

/** Result of `session.task.start`. */
export interface TaskStarted {
  blockedBy?: number[];
  createdAt: number;
  description: string;
  finishedAt?: number;
  id: number;
  known?: RecallEntry[];
  missing?: string[];
  origin?: string;
  priority: number;
  progress?: string;
  scope?: RecordScope;
  session: string;
  startedAt?: number;
  status: TaskStatus;
  summary?: string;
  uid: string;
}

/** State of a background task. */
export type TaskState = "running" | "restarting";

/** Status of a task. */
export type TaskStatus = "pending" | "active" | "passed" | "failed" | "skipped";

/** The tasks of a session: the active task, then the queue in order, then the finished tasks. */
export interface Tasks {
  counts: TaskCounts;
  tasks: Task[];
}

/** Whether the notes contain all words of the query. */
export type TermMatch = "all" | "any";

/** A test result. */
export interface TestResult {
  app?: string;
  bug?: string;
  createdAt: number;
  durationMs?: number;
  evidence?: string;
  id: number;
  name: string;
  origin?: string;
  page?: string;
  scope?: RecordScope;
  session: string;
  state?: string;
  status: ResultStatus;
  summary?: string;
  task?: string;
  uid: string;
}

/** An element that was marked as tested. */
export interface TestedElement {
  app: string;
  component?: string;
  element: string;
  failed: number;
  lastAt: number;
  page: string;
  passed: number;
  times: number;
}

/** Result of `session.tested`. */
export interface TestedElements {
  elements: TestedElement[];
  session: string;
  total: number;
}

/** Form in which an action returns the resulting page. */
export type Then = "outline" | "diff" | "page" | "none";

/** A tool call. */
export interface ToolCall {
  arguments?: unknown;
  custom?: Function;
  extra?: Record<string, unknown>;
  function?: Function;
  id?: string;
  name?: string;
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface TopReply {
  app: string | null;
  device: string;
  observationId: string;
  recorded?: boolean;
  session: string;
  topActivity: string | null;
  traceId: string;
}

/** The element that brings a task nearest. */
export interface Toward {
  alias: string;
  goal: string;
  probability?: number;
  task: number;
}

/** Experience with an action on a page. */
export interface Transition {
  action: Action;
  failureCause?: string;
  failureCount: number;
  lastSuccessAt?: number;
  matchScope: Scope;
  nothingCount: number;
  outcomes: Outcome[];
  postActivity?: string;
  postPage?: PageRef;
  preActivity: string;
  preApp: string;
  preName?: string;
  prePage: PageRef;
  successCount: number;
  text: string;
  uid: string;
  verifiedCount: number;
  verifyOp?: string;
}

/** Result of `visual.transitions`. */
export interface Transitions {
  app: string;
  site?: string;
  transitions: GraphTransition[];
}

/** Result of checking whether a device works. */
export interface Trial {
  durationMs: number;
  error?: ErrorCode;
  found: string;
  hint?: string;
  topActivity?: string;
  usable: boolean;
}

/** Condition to wait for. */
export type Until = "text" | "activity" | "gone" | "settled";

/** Changes of one kind that an upkeep run made. */
export interface UpkeepChange {
  change: string;
  count: number;
  examples?: string[];
  rows?: UpkeepRow[];
}

/** A row that an upkeep run changed. */
export interface UpkeepRow {
  into?: string;
  uid: string;
}

/** An upkeep run that changed something. */
export interface UpkeepRun {
  at: number;
  changes: UpkeepChange[];
}

/** Size of the context, with the limits that apply to it. */
export interface Usage {
  allocation: Allocation;
  asked?: number;
  canAfford?: boolean;
  limit: number;
  maxMessages: number;
  messages: number;
  percentage: number;
  recorded: number;
  recordedTokens: number;
  session: string;
  threshold: number;
  tokenizer: string;
  used: number;
}

/** Result of `memory.vacuum`. */
export interface Vacuumed {
  afterBytes: number;
  beforeBytes: number;
}

/** Verb of an action: the operations of `act.*` and `recover.*`. */
export type Verb = "tap" | "longPress" | "doubleTap" | "hover" | "swipe" | "drag" | "upload" | "tab" | "pageTool" | "scroll" | "scrollTo" | "back" | "home" | "key" | "text" | "fill" | "launch" | "stop" | "relaunch" | "shell" | "intent" | "install" | "uninstall" | "clearApp" | "grant" | "configure" | "wait";

/** A backup that was checked and can be restored. */
export interface VerifiedBackup {
  artifactsChecked: number;
  artifactsLost: number;
  backup: Backup;
  lost?: string[];
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface VerifyResultReply {
  actual?: string;
  device: string;
  eventId: string;
  matched: boolean;
  matchedCount?: number;
  nodes?: Row[];
  observationId?: string;
  page?: PageRef;
  recorded?: boolean;
  session: string;
  settled: boolean;
  traceId: string;
}

/** A page that a session visited, with the last observation of the page. */
export interface VisitedPage {
  activity?: string;
  app: string;
  firstSeen: number;
  key: string;
  lastSeen: number;
  name?: string;
  observations: number;
  snapshot?: PageSnapshot;
  state?: string;
}

/** Result of `visual.export`. */
export interface VisualExportResult {
  exported: ExportedScope[];
}

/** Result of `visual.import`. */
export interface VisualImportResult {
  dryRun: boolean;
  imported: ImportedScope[];
}

/** A result together with the device, session and trace id of the call, in one JSON object. */
export interface WaitResultReply {
  app: string | null;
  device: string;
  dialog?: string;
  elements?: Element[];
  hasWebView: boolean;
  hints: Hint[];
  incidents?: Incident[];
  matchedCount?: number;
  mode: string;
  nodeReliability: string;
  nodes?: Row[];
  observationId: string;
  outline?: string;
  page: PageRef;
  reason?: string;
  recorded?: boolean;
  reliable: boolean;
  session: string;
  settled: boolean;
  since?: string;
  tools?: PublishedTool[];
  topActivity: string | null;
  toward?: Toward;
  traceId: string;
  until: Until;
  waitedMs: number;
}

/** Explanation of why an entry was found. */
export interface Why {
  ageFactor: number;
  bm25?: number;
  builtinCosine?: number;
  builtinRank?: number;
  confidenceFactor: number;
  cosine?: number;
  share?: number;
  textRank?: number;
  vectorRank?: number;
  words?: string[];
}

/** A window on the screen; returned only with `full`. */
export interface WindowRow {
  app: string;
  focused: boolean;
  id: number;
  kind: string;
  layer: number;
  title: string;
}

/** Working memory: information that an agent needs to continue its work. */
export interface WorkingMemory {
  activeElements: ActiveElement[];
  context: Record<string, string>;
  currentTask?: Task;
  observationId?: string;
  recentObservations: RecentObservation[];
  session: string;
  stale: boolean;
  usage: Usage;
}

export class BackupMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Copies the memory and its artifacts while the daemon is running, and checks the copy. */
  create(params: { requestKey?: string } = {}): Promise<Backup> {
    return this.#call("backup.create", params, { key: true });
  }

  /** Lists the backups, newest first. */
  list(): Promise<Backups> {
    return this.#call("backup.list", {}, {});
  }

  /** Checks that a backup can be restored (database, key, schema), and lists artifacts without an intact copy. */
  verify(params: { name?: string } = {}): Promise<VerifiedBackup> {
    return this.#call("backup.verify", params, {});
  }

  /** Deletes a backup. */
  delete(params: { name: string; requestKey?: string }): Promise<DeletedBackup> {
    return this.#call("backup.delete", params, { key: true });
  }
}

export class JobMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Lists the background jobs with the results of their last runs. */
  list(): Promise<Jobs> {
    return this.#call("job.list", {}, {});
  }

  /** Runs a job now and waits until the run has finished. */
  run(params: { name: string; requestKey?: string }): Promise<Job> {
    return this.#call("job.run", params, { key: true });
  }
}

export class ModelMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Checks a sentence model in a directory, and uses it for embeddings from now on. */
  add(params: { directory: string; requestKey?: string }): Promise<ModelAdded> {
    return this.#call("model.add", params, { key: true });
  }

  /** Switches back to the built-in model, and deletes the vectors of all other models. */
  remove(params: { requestKey?: string } = {}): Promise<ModelRemoved> {
    return this.#call("model.remove", params, { key: true });
  }
}

export class RecallMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Stores a fact, a preference or a procedure. */
  store(params: { text: string; app?: string; confidence?: number; expiresAt?: number; related?: string[]; scope?: PatternScope; session?: string; site?: string; source?: string; tags?: string[]; title?: string; type?: StoredType; requestKey?: string }): Promise<RecallStored> {
    return this.#call("recall.store", params, { session: true, key: true });
  }

  /** Searches the memory by words and by meaning. */
  search(params: { query: string; app?: string; archived?: boolean; expiresUntil?: number; explain?: boolean; limit?: number; mode?: SearchMode; ofSession?: string; session?: string; since?: number; site?: string; tags?: string[]; types?: EntryType[]; until?: number }): Promise<RecallFound> {
    return this.#call("recall.search", params, { session: true });
  }

  /** Returns an entry with its complete text. */
  get(params: { uid: string; session?: string }): Promise<RecallEntry> {
    return this.#call("recall.get", params, { session: true });
  }

  /** Records that an entry was used and whether it held true, and updates the entry's confidence. */
  used(params: { uid: string; held?: boolean; session?: string; requestKey?: string }): Promise<RecallEntry> {
    return this.#call("recall.used", params, { session: true, key: true });
  }

  /** Deletes an entry that `recall.store` stored. */
  delete(params: { uid: string; session?: string; requestKey?: string }): Promise<RecallDeleted> {
    return this.#call("recall.delete", params, { session: true, key: true });
  }

  /** Assembles the knowledge about a task from the session and from the memory, within a token budget. */
  context(params: { app?: string; budget?: number; session?: string; task?: string } = {}): Promise<RecallContext> {
    return this.#call("recall.context", params, { session: true });
  }

  /** Returns the number of recall entries by type, and the state of the embedding models and of Qdrant. */
  status(): Promise<RecallStatus> {
    return this.#call("recall.status", {}, {});
  }

  /** Merges, expires and archives recall entries, and lists patterns that may have the same meaning. */
  upkeep(params: { dryRun?: boolean; requestKey?: string } = {}): Promise<RecallUpkeep> {
    return this.#call("recall.upkeep", params, { key: true });
  }

  /** Measures how well each search method finds the expected entries. */
  evaluate(params: { directory: string }): Promise<RecallEvaluated> {
    return this.#call("recall.evaluate", params, {});
  }
}

export class PageModelMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Saves a model of a page's elements; saving the same page again updates the stability of the model. */
  save(params: { elements: PageElement[]; page: string; pageType: string; app?: string; requestKey?: string }): Promise<PageModel> {
    return this.#call("pageModel.save", params, { key: true });
  }

  /** Finds models of a page and of similar pages. */
  find(params: { app?: string; limit?: number; page?: string } = {}): Promise<PageModels> {
    return this.#call("pageModel.find", params, {});
  }

  /** Deletes a page model. */
  delete(params: { id: number; requestKey?: string }): Promise<DeleteResult> {
    return this.#call("pageModel.delete", params, { key: true });
  }
}

export class PatternMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Saves a learned pattern; saving the pattern again raises its confidence. */
  save(params: { kind: PatternKind; text: string; app?: string; confidence?: number; data?: Record<string, unknown>; page?: string; scope?: PatternScope; session?: string; source?: string; requestKey?: string }): Promise<Pattern> {
    return this.#call("pattern.save", params, { session: true, key: true });
  }

  /** Finds patterns by page, app, kind, session or text. */
  find(params: { app?: string; kind?: PatternKind; limit?: number; minConfidence?: number; page?: string; session?: string; text?: string } = {}): Promise<Patterns> {
    return this.#call("pattern.find", params, {});
  }

  /** Lists patterns of all scopes, newest first. */
  list(params: { app?: string; limit?: number; scope?: PatternScope; session?: string } = {}): Promise<Patterns> {
    return this.#call("pattern.list", params, {});
  }

  /** Widens or narrows the scope of a pattern. */
  promote(params: { id: number; scope: PatternScope; requestKey?: string }): Promise<Pattern> {
    return this.#call("pattern.promote", params, { key: true });
  }

  /** Records that a pattern was used, and whether it held true. */
  used(params: { id: number; held?: boolean; requestKey?: string }): Promise<Pattern> {
    return this.#call("pattern.used", params, { key: true });
  }

  /** Merges a pattern into another pattern with the same meaning and the same subject. */
  merge(params: { id: number; into: number; requestKey?: string }): Promise<Pattern> {
    return this.#call("pattern.merge", params, { key: true });
  }

  /** Deletes a pattern. */
  delete(params: { id: number; requestKey?: string }): Promise<DeleteResult> {
    return this.#call("pattern.delete", params, { key: true });
  }
}

export class ConversationMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Records messages, counts their tokens, extracts context keys and facts, and compacts an overfull context. */
  append(params: { messages: Message[]; context?: Record<string, string>; conversation?: string; session?: string; requestKey?: string }): Promise<AppendResult> {
    return this.#call("conversation.append", params, { session: true, key: true });
  }

  /** Lists recorded messages, newest first, including messages that are no longer in the context. */
  list(params: { conversation?: string; cursor?: number; limit?: number; session?: string } = {}): Promise<Messages> {
    return this.#call("conversation.list", params, { session: true });
  }

  /** Replaces older messages in the context with a summary; the messages remain recorded. */
  compact(params: { conversation?: string; keep?: number; learn?: PatternScope; session?: string; requestKey?: string } = {}): Promise<CompactResult> {
    return this.#call("conversation.compact", params, { session: true, key: true });
  }

  /** Returns the rolling summary with the last messages and the context keys. */
  summary(params: { conversation?: string; session?: string } = {}): Promise<Summary> {
    return this.#call("conversation.summary", params, { session: true });
  }

  /** Searches recorded messages for words. */
  search(params: { query: string; conversation?: string; everywhere?: boolean; limit?: number; role?: MessageRole; session?: string; since?: number; until?: number }): Promise<FoundMessages> {
    return this.#call("conversation.search", params, { session: true });
  }

  /** Deletes a recorded message, such as one that contains a secret, along with everything derived from it. */
  delete(params: { position: number; conversation?: string; session?: string; requestKey?: string }): Promise<DeleteMessageResult> {
    return this.#call("conversation.delete", params, { session: true, key: true });
  }

  /** Clears the context; the messages remain recorded. */
  clear(params: { conversation?: string; forgetContext?: boolean; session?: string; requestKey?: string } = {}): Promise<ClearResult> {
    return this.#call("conversation.clear", params, { session: true, key: true });
  }

  /** Reports how full the context is, and whether a given text or number of tokens fits. */
  usage(params: { conversation?: string; session?: string; text?: string; tokens?: number; tools?: unknown[] } = {}): Promise<Usage> {
    return this.#call("conversation.usage", params, { session: true });
  }

  /** Assembles the messages for the model's next turn within a token budget. */
  context(params: { budget?: number; conversation?: string; format?: MessageFormat; session?: string; tools?: unknown[] } = {}): Promise<ModelContext> {
    return this.#call("conversation.context", params, { session: true });
  }

  /** Returns the working memory of an agent: current task, recent observations, elements with aliases, context keys. */
  working(params: { conversation?: string; session?: string } = {}): Promise<WorkingMemory> {
    return this.#call("conversation.working", params, { session: true });
  }
}

export class SessionResultMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Records a test result. */
  add(params: { name: string; status: ResultStatus; app?: string; bug?: number; durationMs?: number; evidence?: string; page?: string; scope?: RecordScope; session?: string; summary?: string; requestKey?: string }): Promise<TestResult> {
    return this.#call("session.result.add", params, { session: true, key: true });
  }

  /** Lists test results, newest first, with counts by outcome. */
  list(params: { cursor?: number; limit?: number; page?: string; session?: string; since?: number; status?: ResultStatus } = {}): Promise<Results> {
    return this.#call("session.result.list", params, {});
  }
}

export class SessionBugMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Records a bug. */
  add(params: { title: string; actual?: string; app?: string; description?: string; expected?: string; fromLog?: boolean; page?: string; scope?: RecordScope; screenshot?: string; session?: string; severity?: Severity; steps?: string[]; requestKey?: string }): Promise<BugAddResult> {
    return this.#call("session.bug.add", params, { session: true, key: true });
  }

  /** Lists bugs, newest first, with counts by severity and status. */
  list(params: { app?: string; cursor?: number; limit?: number; page?: string; session?: string; severity?: Severity; status?: BugStatus } = {}): Promise<Bugs> {
    return this.#call("session.bug.list", params, {});
  }

  /** Returns a bug. */
  show(params: { id: number; session?: string }): Promise<Bug> {
    return this.#call("session.bug.show", params, { session: true });
  }

  /** Marks a bug as resolved, with a reason. */
  resolve(params: { id: number; reason: string; session?: string; requestKey?: string }): Promise<Bug> {
    return this.#call("session.bug.resolve", params, { session: true, key: true });
  }

  /** Changes the given fields of a bug. */
  update(params: { id: number; actual?: string; app?: string; description?: string; expected?: string; page?: string; scope?: RecordScope; screenshot?: string; session?: string; severity?: Severity; steps?: string[]; title?: string; requestKey?: string }): Promise<Bug> {
    return this.#call("session.bug.update", params, { session: true, key: true });
  }

  /** Reopens a resolved bug. */
  reopen(params: { id: number; session?: string; requestKey?: string }): Promise<Bug> {
    return this.#call("session.bug.reopen", params, { session: true, key: true });
  }
}

export class SessionTaskMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Adds a task to the queue. */
  add(params: { description: string; blockedBy?: number[]; priority?: number; scope?: RecordScope; session?: string; requestKey?: string }): Promise<Task> {
    return this.#call("session.task.add", params, { session: true, key: true });
  }

  /** Starts a task, by default the first task in the queue. */
  start(params: { id?: number; session?: string; switch?: boolean; requestKey?: string } = {}): Promise<TaskStarted> {
    return this.#call("session.task.start", params, { session: true, key: true });
  }

  /** Updates the progress note, description, priority or scope of a task. */
  update(params: { description?: string; id?: number; priority?: number; progress?: string; scope?: RecordScope; session?: string; requestKey?: string } = {}): Promise<Task> {
    return this.#call("session.task.update", params, { session: true, key: true });
  }

  /** Finishes a task as passed, failed or skipped, with a summary. */
  finish(params: { id?: number; session?: string; status?: FinishStatus; summary?: string; requestKey?: string } = {}): Promise<Task> {
    return this.#call("session.task.finish", params, { session: true, key: true });
  }

  /** Lists the tasks of a session. */
  list(params: { limit?: number; session?: string; status?: TaskStatus } = {}): Promise<Tasks> {
    return this.#call("session.task.list", params, { session: true });
  }
}

export class SessionMethods {
  readonly task: SessionTaskMethods;
  readonly bug: SessionBugMethods;
  readonly result: SessionResultMethods;
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
    this.task = new SessionTaskMethods(call);
    this.bug = new SessionBugMethods(call);
    this.result = new SessionResultMethods(call);
  }

  /** Starts a session with a goal and tasks; earlier records under the session's name become part of it. */
  start(params: { app?: string; autoProgress?: boolean; context?: Record<string, string>; directory?: string; goal?: string; maxTokens?: number; model?: string; progressDir?: string; scope?: RecordScope; session?: string; tasks?: string[]; trackedKeys?: string[]; requestKey?: string } = {}): Promise<SessionDetails> {
    return this.#call("session.start", params, { session: true, key: true });
  }

  /** Lists sessions, newest first. */
  list(params: { app?: string; cursor?: number; limit?: number; status?: SessionStatus } = {}): Promise<Sessions> {
    return this.#call("session.list", params, {});
  }

  /** Returns a session with its summary, statistics, tasks, bugs and pages. */
  show(params: { session?: string } = {}): Promise<SessionDetails> {
    return this.#call("session.show", params, { session: true });
  }

  /** Ends a session: compacts its conversation and writes the report, the final summary and the progress files. */
  end(params: { file?: string; session?: string; requestKey?: string } = {}): Promise<EndResult> {
    return this.#call("session.end", params, { session: true, key: true });
  }

  /** Writes a report on a session, with its screenshots. */
  report(params: { file?: string; format?: ReportFormat; session?: string; requestKey?: string } = {}): Promise<ReportResult> {
    return this.#call("session.report", params, { session: true, key: true });
  }

  /** Renames a session, or changes its goal, app or scope. */
  update(params: { app?: string; goal?: string; name?: string; scope?: RecordScope; session?: string; requestKey?: string } = {}): Promise<SessionInfo> {
    return this.#call("session.update", params, { session: true, key: true });
  }

  /** Deletes a session with its messages and tasks; findings and notes of the app are kept unless `findings` is set. */
  delete(params: { findings?: boolean; session?: string; requestKey?: string } = {}): Promise<Deleted> {
    return this.#call("session.delete", params, { session: true, key: true });
  }

  /** Imports a session from an export in JSON lines. */
  import(params: { file: string; merge?: boolean; name?: string; requestKey?: string }): Promise<Imported> {
    return this.#call("session.import", params, { key: true });
  }

  /** Exports the complete record of a session as one document, or as JSON lines that can be imported. */
  export(params: { file?: string; format?: ExportFormat; session?: string } = {}): Promise<ExportResult> {
    return this.#call("session.export", params, { session: true });
  }

  /** Reports which of the known pages and elements a session has visited and tested. */
  coverage(params: { app?: string; session?: string } = {}): Promise<Coverage> {
    return this.#call("session.coverage", params, { session: true });
  }

  /** Writes the progress files of a session, after updating its next steps, blockers and settings if they are given. */
  progress(params: { auto?: boolean; blockers?: string[]; dir?: string; directory?: string; nextSteps?: string[]; session?: string; requestKey?: string } = {}): Promise<ProgressResult> {
    return this.#call("session.progress", params, { session: true, key: true });
  }

  /** Resumes a session from memory or from a progress file, and returns a prompt for continuing it. */
  resume(params: { file?: string; session?: string; requestKey?: string } = {}): Promise<ResumeResult> {
    return this.#call("session.resume", params, { session: true, key: true });
  }

  /** Marks elements as tested, optionally with the outcome of an assertion. */
  tested(params: { elements: string[]; app?: string; new?: boolean; page?: string; passed?: boolean; session?: string; requestKey?: string }): Promise<TestedElements> {
    return this.#call("session.tested", params, { session: true, key: true });
  }
}

export class VisualMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Learns the components on the screen, and the state they make up. */
  learn(params: { app?: string; detect?: boolean; detections?: Detection[]; device?: string; forgetThreshold?: number; page?: string; picture?: string; pictures?: boolean; session?: string; site?: string; requestKey?: string } = {}): Promise<LearnResult> {
    return this.#call("visual.learn", params, { device: true, session: true, key: true });
  }

  /** Lists the components of an app or site. */
  components(params: { app?: string; cursor?: number; device?: string; limit?: number; query?: string; session?: string; site?: string; state?: string; unlabelled?: boolean } = {}): Promise<Components> {
    return this.#call("visual.components", params, { device: true, session: true });
  }

  /** Renames a component or a state everywhere it is referred to. */
  rename(params: { new: string; old: string; app?: string; device?: string; session?: string; site?: string; requestKey?: string }): Promise<RenameResult> {
    return this.#call("visual.rename", params, { device: true, session: true, key: true });
  }

  /** Deletes components whose text is dynamic, such as times, counters or messages. */
  cleanup(params: { app?: string; device?: string; dryRun?: boolean; session?: string; site?: string; requestKey?: string } = {}): Promise<CleanupResult> {
    return this.#call("visual.cleanup", params, { device: true, session: true, key: true });
  }

  /** Lists the states of an app or site. */
  states(params: { all?: boolean; app?: string; device?: string; session?: string; site?: string } = {}): Promise<States> {
    return this.#call("visual.states", params, { device: true, session: true });
  }

  /** Deletes a component, or a state with everything that depends on it. */
  delete(params: { app?: string; component?: string; device?: string; purge?: boolean; session?: string; site?: string; state?: string; requestKey?: string } = {}): Promise<Change> {
    return this.#call("visual.delete", params, { device: true, session: true, key: true });
  }

  /** Lists the items that were forgotten, merged, renamed or deleted, with the reasons. */
  history(params: { app?: string; cursor?: number; device?: string; limit?: number; session?: string; site?: string } = {}): Promise<Changes> {
    return this.#call("visual.history", params, { device: true, session: true });
  }

  /** Undoes a change to the visual memory. */
  undo(params: { app?: string; device?: string; id?: number; session?: string; site?: string; requestKey?: string } = {}): Promise<Change> {
    return this.#call("visual.undo", params, { device: true, session: true, key: true });
  }

  /** Lists the known transitions between the states of an app or site. */
  transitions(params: { app?: string; device?: string; from?: string; session?: string; site?: string } = {}): Promise<Transitions> {
    return this.#call("visual.transitions", params, { device: true, session: true });
  }

  /** Finds the most reliable route to a state, or to a state that shows a component. */
  path(params: { to: string; alternatives?: number; app?: string; device?: string; from?: string; session?: string; shortest?: boolean; site?: string }): Promise<Path> {
    return this.#call("visual.path", params, { device: true, session: true });
  }

  /** Renders the state graph of an app or site. */
  graph(params: { app?: string; device?: string; format?: GraphFormat; saveFile?: string; session?: string; site?: string } = {}): Promise<RenderedGraph> {
    return this.#call("visual.graph", params, { device: true, session: true });
  }

  /** Imports files from the original visual-memory tool, in any of its three formats, including pictures and sites. */
  import(params: { dir: string; app?: string; dryRun?: boolean; session?: string; requestKey?: string }): Promise<VisualImportResult> {
    return this.#call("visual.import", params, { session: true, key: true });
  }

  /** Exports the visual memory as files that the original visual-memory tool can read. */
  export(params: { dir: string; app?: string; site?: string; requestKey?: string }): Promise<VisualExportResult> {
    return this.#call("visual.export", params, { key: true });
  }

  /** Finds the components of an app or site on the screen by their pictures. */
  match(params: { app?: string; components?: string[]; device?: string; picture?: string; session?: string; site?: string; state?: string; requestKey?: string } = {}): Promise<MatchResult> {
    return this.#call("visual.match", params, { device: true, session: true, key: true });
  }
}

export class ArtifactMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Lists artifacts, newest first. */
  list(params: { cursor?: number; kind?: string; limit?: number; session?: string } = {}): Promise<Artifacts> {
    return this.#call("artifact.list", params, {});
  }

  /** Returns an artifact, optionally with its content. */
  get(params: { id: number; content?: boolean }): Promise<ArtifactDetails> {
    return this.#call("artifact.get", params, {});
  }

  /** Deletes an artifact and its file. */
  delete(params: { id: number; requestKey?: string }): Promise<DeletedArtifact> {
    return this.#call("artifact.delete", params, { key: true });
  }
}

export class MemoryMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Saves a note at the end of the chain for its app and topic, and returns similar notes. */
  save(params: { content: string; topic: string; app?: string; scope?: RecordScope; session?: string; requestKey?: string }): Promise<SavedNote> {
    return this.#call("memory.save", params, { session: true, key: true });
  }

  /** Searches notes, best match first; without a query, lists the newest ones. */
  search(params: { app?: string; cursor?: number; limit?: number; query?: string; session?: string; topic?: string } = {}): Promise<Notes> {
    return this.#call("memory.search", params, { session: true });
  }

  /** Deletes a note; the other notes in its chain keep their positions. */
  delete(params: { id?: number; uid?: string; requestKey?: string } = {}): Promise<DeletedNote> {
    return this.#call("memory.delete", params, { key: true });
  }

  /** Returns the known outcomes of actions and recoveries: first for a page, then for its activity, then for its app. */
  experience(params: { activity?: string; app?: string; device?: string; failureCause?: string; limit?: number; pageFp?: string; session?: string } = {}): Promise<Experience> {
    return this.#call("memory.experience", params, { device: true, session: true });
  }

  /** Returns the last observation of a session. */
  context(params: { device?: string; session?: string } = {}): Promise<SessionContext> {
    return this.#call("memory.context", params, { device: true, session: true });
  }

  /** Lists events, newest first. */
  log(params: { app?: string; cursor?: number; device?: string; limit?: number; session?: string; status?: EventStatus } = {}): Promise<Log> {
    return this.#call("memory.log", params, {});
  }

  /** Returns statistics about the memory. */
  stats(params: { session?: string } = {}): Promise<Stats> {
    return this.#call("memory.stats", params, {});
  }

  /** Imports settings, notes, transitions, recoveries and artifacts from `af` 0.5; repeating it adds no duplicates. */
  importAf(params: { configFile?: string; databaseFile?: string; dryRun?: boolean; requestKey?: string } = {}): Promise<ImportReport> {
    return this.#call("memory.importAf", params, { key: true });
  }

  /** Predicts where the actions on the last observed page lead, also those that were never tried there. */
  predict(params: { device?: string; limit?: number; session?: string; verb?: Verb } = {}): Promise<PredictionsReply> {
    return this.#call("memory.predict", params, { device: true, session: true });
  }

  /** Deletes old events and observations; learned experience and the totals of sessions are kept. */
  prune(params: { older: string; dryRun?: boolean; requestKey?: string }): Promise<Pruned> {
    return this.#call("memory.prune", params, { key: true });
  }

  /** Rewrites the database to reclaim space from deleted data; other writes wait until the rewrite is done. */
  vacuum(params: { requestKey?: string } = {}): Promise<Vacuumed> {
    return this.#call("memory.vacuum", params, { key: true });
  }

  /** Writes the whole memory, except artifacts and settings, to a file of JSON lines. */
  export(params: { file: string }): Promise<ExportedMemory> {
    return this.#call("memory.export", params, {});
  }

  /** Imports the export of another memory; importing it again changes nothing. Import only files that you trust. */
  import(params: { file: string; dryRun?: boolean; merge?: boolean; requestKey?: string }): Promise<ImportedMemory> {
    return this.#call("memory.import", params, { key: true });
  }
}

export class RecoverMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Presses Back to recover from a failure. */
  back(params: { device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then; times?: number } = {}): Promise<RecoverResultReply> {
    return this.#call("recover.back", params, { device: true, session: true, key: true });
  }

  /** Presses Home to recover from a failure. */
  home(params: { device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then } = {}): Promise<RecoverResultReply> {
    return this.#call("recover.home", params, { device: true, session: true, key: true });
  }

  /** Presses Home and launches the app to recover from a failure. */
  relaunch(params: { package: string; device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<RecoverResultReply> {
    return this.#call("recover.relaunch", params, { device: true, session: true, key: true });
  }

  /** Recovers from the last failure by what fixed it here before, else by general means, and checks each action. */
  auto(params: { allowRisky?: boolean; app?: string; device?: string; maxSteps?: number; requestKey?: string; session?: string; strict?: boolean; then?: Then; timeoutMs?: number } = {}): Promise<RecoverAutoResultReply> {
    return this.#call("recover.auto", params, { device: true, session: true, key: true });
  }
}

export class VerifyMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Verifies that visible text or a description contains the given text; ids, classes and flags are not searched. */
  textContains(params: { text: string; caseSensitive?: boolean; device?: string; session?: string }): Promise<VerifyResultReply> {
    return this.#call("verify.textContains", params, { device: true, session: true });
  }

  /** Verifies that the given text is on the page, or that an element has the given state. */
  element(params: { text: string; device?: string; exactMatch?: boolean; session?: string; shows?: string; state?: ElementState }): Promise<VerifyResultReply> {
    return this.#call("verify.element", params, { device: true, session: true });
  }

  /** Verifies that the activity in the foreground is the expected one. */
  topActivity(params: { expected: string; device?: string; mode?: MatchMode; session?: string }): Promise<VerifyResultReply> {
    return this.#call("verify.topActivity", params, { device: true, session: true });
  }

  /** Verifies that a visible node matches the selector. */
  nodeExists(params: { by: By; value: string; device?: string; exactMatch?: boolean; session?: string }): Promise<VerifyResultReply> {
    return this.#call("verify.nodeExists", params, { device: true, session: true });
  }
}

export class ActMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Taps a target or a point. */
  tap(params: { by?: By; device?: string; durationMs?: number; exactMatch?: boolean; observationId?: string; partial?: boolean; recover?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then; value?: string; x?: number; y?: number } = {}): Promise<ActResultReply> {
    return this.#call("act.tap", params, { device: true, session: true, key: true });
  }

  /** Long-presses a target or a point. */
  longPress(params: { by?: By; device?: string; durationMs?: number; exactMatch?: boolean; observationId?: string; partial?: boolean; recover?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then; value?: string; x?: number; y?: number } = {}): Promise<ActResultReply> {
    return this.#call("act.longPress", params, { device: true, session: true, key: true });
  }

  /** Taps a target or a point twice in quick succession. */
  doubleTap(params: { by?: By; device?: string; durationMs?: number; exactMatch?: boolean; observationId?: string; partial?: boolean; recover?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then; value?: string; x?: number; y?: number } = {}): Promise<ActResultReply> {
    return this.#call("act.doubleTap", params, { device: true, session: true, key: true });
  }

  /** Moves the mouse onto an element or a point, as to open a menu; only browsers have a mouse. */
  hover(params: { by?: By; device?: string; durationMs?: number; exactMatch?: boolean; observationId?: string; partial?: boolean; recover?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then; value?: string; x?: number; y?: number } = {}): Promise<ActResultReply> {
    return this.#call("act.hover", params, { device: true, session: true, key: true });
  }

  /** Swipes from one point to another. */
  swipe(params: { x1: number; x2: number; y1: number; y2: number; device?: string; durationMs?: number; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.swipe", params, { device: true, session: true, key: true });
  }

  /** Drags from an element or a point to another element or point. */
  drag(params: { device?: string; durationMs?: number; partial?: boolean; recover?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then; to?: string; toX?: number; toY?: number; value?: string; x?: number; y?: number } = {}): Promise<ActResultReply> {
    return this.#call("act.drag", params, { device: true, session: true, key: true });
  }

  /** Scrolls the screen in a direction. */
  scroll(params: { direction: Direction; amount?: Amount; device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.scroll", params, { device: true, session: true, key: true });
  }

  /** Scrolls down to the end, then up to the top, until a matching element is on the screen. */
  scrollTo(params: { text: string; by?: By; device?: string; exactMatch?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then; timeoutMs?: number }): Promise<ScrollToResultReply> {
    return this.#call("act.scrollTo", params, { device: true, session: true, key: true });
  }

  /** Presses the Back key. */
  back(params: { device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then } = {}): Promise<ActResultReply> {
    return this.#call("act.back", params, { device: true, session: true, key: true });
  }

  /** Presses the Home key. */
  home(params: { device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then } = {}): Promise<ActResultReply> {
    return this.#call("act.home", params, { device: true, session: true, key: true });
  }

  /** Presses a key, given by its name or by its numeric code on the device. */
  key(params: { device?: string; key?: KeyName; keyCode?: number; requestKey?: string; session?: string; strict?: boolean; then?: Then } = {}): Promise<ActResultReply> {
    return this.#call("act.key", params, { device: true, session: true, key: true });
  }

  /** Types text into the focused field; the text is not stored. */
  text(params: { text: Secret; device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.text", params, { device: true, session: true, key: true });
  }

  /** Fills a field: taps it, deletes its content, types the text, and checks the result. */
  fill(params: { text: Secret; value: string; by?: By; device?: string; recover?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.fill", params, { device: true, session: true, key: true });
  }

  /** Makes a tab of a browser the current one, opens an empty one, or closes one. */
  tab(params: { tab: string; close?: boolean; device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.tab", params, { device: true, session: true, key: true });
  }

  /** Taps an element of a page that asks for files, and gives it files. */
  upload(params: { files: string[]; value: string; by?: By; device?: string; recover?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.upload", params, { device: true, session: true, key: true });
  }

  /** Calls a tool that the page in a browser publishes for agents, and returns its answer. */
  pageTool(params: { tool: string; device?: string; input?: Record<string, unknown>; requestKey?: string; session?: string; strict?: boolean; then?: Then; timeoutMs?: number }): Promise<PageToolResultReply> {
    return this.#call("act.pageTool", params, { device: true, session: true, key: true });
  }

  /** Launches an app. */
  launch(params: { device?: string; name?: string; package?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then } = {}): Promise<ActResultReply> {
    return this.#call("act.launch", params, { device: true, session: true, key: true });
  }

  /** Stops an app. */
  stop(params: { package: string; device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.stop", params, { device: true, session: true, key: true });
  }

  /** Runs a command in the device's shell, if the device's settings allow it. */
  shell(params: { command: Secret; device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then; timeoutMs?: number }): Promise<ShellResultReply> {
    return this.#call("act.shell", params, { device: true, session: true, key: true });
  }

  /** Sends an Android intent, if the device's settings allow it. */
  intent(params: { action?: string; component?: string; data?: string; device?: string; extras?: Record<string, Secret>; package?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then } = {}): Promise<ActResultReply> {
    return this.#call("act.intent", params, { device: true, session: true, key: true });
  }

  /** Goes to a page or an element by the way that the memory knows, and checks each step. */
  goTo(params: { address?: string; allowRisky?: boolean; app?: string; device?: string; element?: string; explore?: number; goal?: string; maxSteps?: number; recover?: boolean; requestKey?: string; session?: string; state?: string; strict?: boolean; text?: string; then?: Then; timeoutMs?: number } = {}): Promise<GoToResultReply> {
    return this.#call("act.goTo", params, { device: true, session: true, key: true });
  }

  /** Undoes the last action of the session by what most reliably leads back, and checks it. */
  undo(params: { device?: string; dryRun?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then } = {}): Promise<ActUndoResultReply> {
    return this.#call("act.undo", params, { device: true, session: true, key: true });
  }

  /** Installs an app from a file, or replaces it, if the device's settings allow it. */
  install(params: { file: string; device?: string; grant?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.install", params, { device: true, session: true, key: true });
  }

  /** Uninstalls an app, if the device's settings allow it. */
  uninstall(params: { package: string; device?: string; keepData?: boolean; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.uninstall", params, { device: true, session: true, key: true });
  }

  /** Stops an app and deletes its data, if the device's settings allow it. */
  clearApp(params: { package: string; device?: string; requestKey?: string; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.clearApp", params, { device: true, session: true, key: true });
  }

  /** Gives an app a permission or takes it away, if the device's settings allow it. */
  grant(params: { package: string; permission: string; device?: string; requestKey?: string; revoke?: boolean; session?: string; strict?: boolean; then?: Then }): Promise<ActResultReply> {
    return this.#call("act.grant", params, { device: true, session: true, key: true });
  }

  /** Changes settings of the device: orientation, dark mode, language, airplane mode. Returns what they were before. */
  configure(params: { airplaneMode?: boolean; darkMode?: boolean; device?: string; locale?: string; localeApp?: string; orientation?: Orientation; requestKey?: string; session?: string; strict?: boolean; then?: Then } = {}): Promise<ConfigureResultReply> {
    return this.#call("act.configure", params, { device: true, session: true, key: true });
  }
}

export class ObserveMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Returns the app and activity in the foreground. */
  top(params: { device?: string; session?: string } = {}): Promise<TopReply> {
    return this.#call("observe.top", params, { device: true, session: true });
  }

  /** Reads the screen as rows, one per node. */
  screen(params: { artifactDir?: string; device?: string; fields?: Column[]; format?: ObservationFormat; full?: boolean; hints?: HintsWanted; maxRows?: number; saveFile?: string; session?: string; settle?: boolean; since?: string; waitMs?: number } = {}): Promise<ScreenReply> {
    return this.#call("observe.screen", params, { device: true, session: true });
  }

  /** Reads the interactive elements of the screen, each with an alias. */
  refs(params: { device?: string; format?: ObservationFormat; full?: boolean; hints?: HintsWanted; maxRows?: number; session?: string; settle?: boolean; since?: string; waitMs?: number } = {}): Promise<RefsReply> {
    return this.#call("observe.refs", params, { device: true, session: true });
  }

  /** Reads the page: base context, rows, refs, and hints from the memory. */
  page(params: { artifactDir?: string; device?: string; format?: ObservationFormat; full?: boolean; hints?: HintsWanted; include?: Part[]; maxRows?: number; more?: boolean; saveDir?: string; session?: string; settle?: boolean; since?: string; waitMs?: number; whole?: boolean; within?: string } = {}): Promise<PageReply> {
    return this.#call("observe.page", params, { device: true, session: true });
  }

  /** Reads the text of the page, without aliases: of the whole page in a browser, else of what is in sight. */
  text(params: { device?: string; from?: number; maxChars?: number; session?: string; waitMs?: number; within?: string } = {}): Promise<PageTextReply> {
    return this.#call("observe.text", params, { device: true, session: true });
  }

  /** Returns the outline of a dump of a screen that the caller has. No device is needed, and nothing is recorded. */
  dump(params: { content: string; maxRows?: number }): Promise<DumpOutline> {
    return this.#call("observe.dump", params, {});
  }

  /** Returns the last observed page of the device, regardless of the observing session, without reading the screen. */
  last(params: { device?: string; session?: string } = {}): Promise<LastPageReply> {
    return this.#call("observe.last", params, { device: true, session: true });
  }

  /** Waits until a condition holds on the screen, without blocking the device for other calls. */
  wait(params: { device?: string; hints?: HintsWanted; session?: string; text?: string; timeoutMs?: number; until?: Until } = {}): Promise<WaitResultReply> {
    return this.#call("observe.wait", params, { device: true, session: true });
  }

  /** Takes a screenshot, optionally with marks on the interactive elements, and saves it to a file. */
  screenshot(params: { annotate?: boolean; artifactDir?: string; device?: string; format?: PictureFormat; hideOverlay?: boolean; inline?: boolean; markScope?: MarkScope; maxDim?: number; maxMarks?: number; of?: string; quality?: number; saveFile?: string; session?: string; whole?: boolean } = {}): Promise<ScreenshotReply> {
    return this.#call("observe.screenshot", params, { device: true, session: true });
  }

  /** Returns the state of the overlay that the phone draws on its screen. */
  overlayGet(params: { device?: string; session?: string } = {}): Promise<OverlayReply> {
    return this.#call("observe.overlayGet", params, { device: true, session: true });
  }

  /** Shows, changes or hides the overlay that the phone draws on its screen. */
  overlaySet(params: { enabled: boolean; autoRefresh?: boolean; device?: string; markScope?: MarkScope; maxMarks?: number; offsetX?: number; offsetY?: number; refreshIntervalMs?: number; session?: string; requestKey?: string }): Promise<OverlayReply> {
    return this.#call("observe.overlaySet", params, { device: true, session: true, key: true });
  }
}

export class ConfigMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Lists all settings with their values and the origins of the values. */
  list(): Promise<Settings> {
    return this.#call("config.list", {}, {});
  }

  /** Returns a setting with its value. */
  get(params: { key: string }): Promise<Setting> {
    return this.#call("config.get", params, {});
  }

  /** Writes a setting to the configuration file; the change takes effect at once unless it requires a restart. */
  set(params: { key: string; value: Secret; requestKey?: string }): Promise<SettingChange> {
    return this.#call("config.set", params, { key: true });
  }

  /** Removes a setting from the configuration file. */
  unset(params: { key: string; requestKey?: string }): Promise<SettingChange> {
    return this.#call("config.unset", params, { key: true });
  }
}

export class DeviceMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Adds a device; fails if there is already a device with this name and other settings. */
  add(params: { name: string; url: string; attach?: string; check?: boolean; kind?: string; persist?: boolean; timeoutMs?: number; token?: Secret; requestKey?: string }): Promise<AddResult> {
    return this.#call("device.add", params, { key: true });
  }

  /** Lists all devices with their states. */
  list(): Promise<Devices> {
    return this.#call("device.list", {}, {});
  }

  /** Removes a device, including its entry in the configuration file. */
  remove(params: { name: string; requestKey?: string }): Promise<RemoveResult> {
    return this.#call("device.remove", params, { key: true });
  }

  /** Checks whether the phone's service responds and accepts the token. */
  health(params: { device?: string; session?: string } = {}): Promise<HealthReply> {
    return this.#call("device.health", params, { device: true, session: true });
  }

  /** Reserves the device for the session: other sessions can observe but not act. A repeated call renews the lease. */
  lease(params: { ttlMs: number; device?: string; session?: string; untilDisconnect?: boolean; requestKey?: string }): Promise<LeaseResultReply> {
    return this.#call("device.lease", params, { device: true, session: true, key: true });
  }

  /** Releases the session's lease on the device. */
  release(params: { device?: string; session?: string; requestKey?: string } = {}): Promise<ReleaseResultReply> {
    return this.#call("device.release", params, { device: true, session: true, key: true });
  }

  /** Lists the packages installed on the device. */
  packages(params: { device?: string; filter?: string; includeSystem?: boolean; session?: string } = {}): Promise<PackagesReply> {
    return this.#call("device.packages", params, { device: true, session: true });
  }

  /** Lists the tabs of a browser. */
  tabs(params: { device?: string; session?: string } = {}): Promise<DeviceTabListReply> {
    return this.#call("device.tabs", params, { device: true, session: true });
  }

  /** Returns the downloads of a browser since the last call, and saves them as artifacts. At most 20 can wait to be returned. */
  downloads(params: { device?: string; session?: string; waitMs?: number } = {}): Promise<DownloadListReply> {
    return this.#call("device.downloads", params, { device: true, session: true });
  }

  /** Adds an Android phone or emulator that `adb` lists, as a device of the kind `adb`. Nothing is installed on it. */
  connectAdb(params: { name?: string; serial?: string; requestKey?: string } = {}): Promise<AddResult> {
    return this.#call("device.connectAdb", params, { key: true });
  }

  /** Configures a phone attached by USB: finds it with `adb`, forwards a port to its service, and saves the device. */
  connectUsb(params: { localPort?: number; name?: string; printOnly?: boolean; serial?: string; requestKey?: string } = {}): Promise<ConnectUsbResult> {
    return this.#call("device.connectUsb", params, { key: true });
  }

  /** Returns what the device's apps logged, by default since the session's last action. Typed texts are replaced. */
  log(params: { app?: string; device?: string; level?: LogLevel; limit?: number; session?: string; sinceMs?: number } = {}): Promise<DeviceLogReply> {
    return this.#call("device.log", params, { device: true, session: true });
  }

  /** Starts a recording of the screen. One recording at a time; it ends after `maxMs` at the latest. */
  startRecording(params: { device?: string; maxMs?: number; session?: string; requestKey?: string } = {}): Promise<RecordingStartedReply> {
    return this.#call("device.startRecording", params, { device: true, session: true, key: true });
  }

  /** Ends the recording of the screen, and saves the video as an artifact. */
  stopRecording(params: { device?: string; saveFile?: string; session?: string; requestKey?: string } = {}): Promise<RecordingSavedReply> {
    return this.#call("device.stopRecording", params, { device: true, session: true, key: true });
  }
}

export class DaemonMethods {
  readonly #call: Call;
  constructor(call: Call) {
    this.#call = call;
  }

  /** Returns the version, the protocol version and the capabilities of the daemon. */
  version(): Promise<DaemonVersion> {
    return this.#call("daemon.version", {}, {});
  }

  /** Returns the status of the daemon, its devices and its database. */
  status(): Promise<DaemonStatus> {
    return this.#call("daemon.status", {}, {});
  }

  /** Returns call statistics by method, and all metrics in the Prometheus text format. */
  metrics(): Promise<Metrics> {
    return this.#call("daemon.metrics", {}, {});
  }

  /** Lists all methods with their common parameters and possible errors. */
  methods(): Promise<MethodList> {
    return this.#call("daemon.methods", {}, {});
  }

  /** Reloads the configuration file; if it is invalid, nothing changes. */
  reload(params: { requestKey?: string } = {}): Promise<ReloadResult> {
    return this.#call("daemon.reload", params, { key: true });
  }

  /** Stops the daemon after finishing the calls in progress. */
  shutdown(params: { requestKey?: string } = {}): Promise<ShutdownResult> {
    return this.#call("daemon.shutdown", params, { key: true });
  }

  /** Checks database, backups, disk, settings, devices, clock and leftover files; reads screens but changes nothing. */
  doctor(): Promise<Diagnosis> {
    return this.#call("daemon.doctor", {}, {});
  }
}

/** All methods, by namespace. */
export class Api {
  readonly daemon: DaemonMethods;
  readonly device: DeviceMethods;
  readonly config: ConfigMethods;
  readonly observe: ObserveMethods;
  readonly act: ActMethods;
  readonly verify: VerifyMethods;
  readonly recover: RecoverMethods;
  readonly memory: MemoryMethods;
  readonly artifact: ArtifactMethods;
  readonly visual: VisualMethods;
  readonly session: SessionMethods;
  readonly conversation: ConversationMethods;
  readonly pattern: PatternMethods;
  readonly pageModel: PageModelMethods;
  readonly recall: RecallMethods;
  readonly model: ModelMethods;
  readonly job: JobMethods;
  readonly backup: BackupMethods;
  constructor(call: Call) {
    this.daemon = new DaemonMethods(call);
    this.device = new DeviceMethods(call);
    this.config = new ConfigMethods(call);
    this.observe = new ObserveMethods(call);
    this.act = new ActMethods(call);
    this.verify = new VerifyMethods(call);
    this.recover = new RecoverMethods(call);
    this.memory = new MemoryMethods(call);
    this.artifact = new ArtifactMethods(call);
    this.visual = new VisualMethods(call);
    this.session = new SessionMethods(call);
    this.conversation = new ConversationMethods(call);
    this.pattern = new PatternMethods(call);
    this.pageModel = new PageModelMethods(call);
    this.recall = new RecallMethods(call);
    this.model = new ModelMethods(call);
    this.job = new JobMethods(call);
    this.backup = new BackupMethods(call);
  }
}

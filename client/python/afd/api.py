"""The methods of afd and the types of their results.

Generated from the OpenRPC document of the daemon; a test keeps it up to date. proto/METHODS.md explains each field.
"""

# The daemon's answers are what its document says.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, Callable, List, Literal, NotRequired, TypeAlias, TypedDict

# The word that requests all hints.
AllHints: TypeAlias = Literal["all"]

# Distance of a scroll.
Amount: TypeAlias = Literal["small", "medium", "large"]

# State of an artifact's file.
ArtifactStatus: TypeAlias = Literal["present", "missing"]

# Reason for a backup.
BackupReason: TypeAlias = Literal["request", "schedule", "migration", "rescue"]

# Status of a bug.
BugStatus: TypeAlias = Literal["open", "resolved"]

# Property by which a node is selected.
By: TypeAlias = Literal["text", "label", "desc", "resId", "class", "ref"]

# Category of an event.
Category: TypeAlias = Literal["act", "verify", "recover"]

# Kind of change to the visual memory.
ChangeOp: TypeAlias = Literal["forget", "merge", "rename", "delete", "cleanup"]

# Column of a screen row.
Column: TypeAlias = Literal["id", "class", "text", "desc", "resId", "bounds", "flags"]

# Content of a message.
Content: TypeAlias = "str | List[MessagePart]"

# Origin of a device.
DeviceSource: TypeAlias = Literal["config", "runtime", "call"]

# Last known state of a device.
DeviceState: TypeAlias = Literal["unknown", "ready", "unreachable", "unauthorized", "failing"]

# How a method uses the `device` parameter.
DeviceUse: TypeAlias = Literal["none", "filter", "observed", "reached"]

# Direction of a scroll.
Direction: TypeAlias = Literal["up", "down", "left", "right"]

# What became of a download.
DownloadStatus: TypeAlias = Literal["running", "complete", "failed"]

# Effect of a method.
Effect: TypeAlias = Literal["read", "act", "admin"]

# State of an element.
ElementState: TypeAlias = Literal["on", "off", "enabled", "disabled", "gone"]

# Type of a recall entry.
EntryType: TypeAlias = Literal["note", "bug", "result", "page", "pattern", "session", "state", "fact", "preference", "procedure", "message"]

# Reason why a call failed.
ErrorCode: TypeAlias = Literal["INVALID_PARAMS", "DEVICE_UNKNOWN", "DEVICE_AMBIGUOUS", "DEVICE_BUSY", "DEVICE_UNREACHABLE", "DEVICE_AUTH", "DEVICE_ERROR", "OUTCOME_UNKNOWN", "REF_ALIAS_UNOBSERVED", "REF_ALIAS_STALE", "TARGET_NOT_FOUND", "TARGET_AMBIGUOUS", "ASSERTION_FAILED", "NOT_FOUND", "CONFLICT", "TIMEOUT", "UNSUPPORTED", "REFUSED", "LIMIT_EXCEEDED", "SHUTTING_DOWN", "STORE_UNAVAILABLE", "STORE_FULL", "INTERNAL", "CANCELLED", "TARGET_COVERED", "TEXT_DIFFERS", "STORE_BUSY", "PARSE_ERROR", "INVALID_REQUEST", "UNKNOWN_METHOD"]

# Outcome of an event.
EventStatus: TypeAlias = Literal["ok", "failed", "unknown"]

# Format of an export.
ExportFormat: TypeAlias = Literal["document", "lines"]

# Outcome of a task.
FinishStatus: TypeAlias = Literal["passed", "failed", "skipped"]

# Purpose of a step.
GoStepKind: TypeAlias = Literal["way", "dismiss", "explore", "scroll", "open", "recover"]

# Why a walk ended.
GoStop: TypeAlias = Literal["arrived", "noWay", "changed", "risky", "needsText", "login", "covered", "unreadable", "disturbed", "failed", "limit", "timeout", "elsewhere", "cancelled", "interrupted"]

# Output format of a graph.
GraphFormat: TypeAlias = Literal["dot", "mermaid", "svg"]

# Kind of hint.
HintKind: TypeAlias = Literal["action", "failure", "recovery", "interrupt", "rule", "flaky", "baseline"]

# Hints to return: `false` for none, `true` for the most useful hints, `"all"` for all hints.
HintsWanted: TypeAlias = "bool | AllHints"

# Import result for a setting or row.
ImportOutcome: TypeAlias = Literal["added", "present", "cleaned", "skipped"]

# What happened to an app.
IncidentKind: TypeAlias = Literal["crash", "notResponding"]

# Kind of named item.
ItemKind: TypeAlias = Literal["component", "state"]

# A device key that can be pressed, such as Back or Home.
KeyName: TypeAlias = Literal["home", "back", "up", "down", "left", "right", "volume-up", "volume-down", "power", "tab", "space", "enter", "delete", "forward-delete", "end", "page-up", "page-down", "forward", "reload", "menu", "search", "escape", "recent"]

# Change in the state of the on-screen keyboard.
KeyboardChange: TypeAlias = Literal["opened", "closed"]

# Severity of a check result.
Level: TypeAlias = Literal["ok", "warning", "error"]

# Severity of a line of a log, in ascending order.
LogLevel: TypeAlias = Literal["verbose", "debug", "info", "warning", "error", "fatal"]

# Elements to mark.
MarkScope: TypeAlias = Literal["all", "interactive"]

# How expected text is compared with the actual text.
MatchMode: TypeAlias = Literal["contains", "equals"]

# Search step in which a component was found.
MatchStage: TypeAlias = Literal["inPlace", "coarsely", "thoroughly"]

# Message format.
MessageFormat: TypeAlias = Literal["afd", "openai", "anthropic"]

# A part of a message.
MessagePart: TypeAlias = "dict[str, Any]"

# Author of a message.
MessageRole: TypeAlias = Literal["system", "user", "assistant", "tool"]

# A message with the cursor from which a subscriber can resume.
MessageWithCursor: TypeAlias = "Event | ObservationNotice | dict[str, Any] | SurpriseNotice | Change | dict[str, Any]"

# Format of an observation.
ObservationFormat: TypeAlias = Literal["outline", "rows"]

# Kind of call that observed a screen.
ObservationSource: TypeAlias = Literal["top", "screen", "refs", "page", "wait", "verify", "learn"]

# Orientation of a screen.
Orientation: TypeAlias = Literal["portrait", "landscape", "auto"]

# Kind of outcome of an action.
OutcomeKind: TypeAlias = Literal["page", "same", "nothing", "failed", "refuted"]

# Part of a page observation.
Part: TypeAlias = Literal["screen", "refs"]

# Kind of pattern.
PatternKind: TypeAlias = Literal["keyFact", "flakyElement", "validationRule", "visualBaseline", "userPreference", "solution", "procedure"]

# Visibility of a learned pattern.
PatternScope: TypeAlias = Literal["session", "app", "everybody"]

# File format of a picture.
PictureFormat: TypeAlias = Literal["jpeg", "png"]

# Where the nearest attempts were made from which an action is predicted.
PredictedFrom: TypeAlias = Literal["page", "activity", "app", "rows", "role"]

# Visibility of a record: a note, bug, test result or task, or the digest of a session.
RecordScope: TypeAlias = Literal["app", "session"]

# Why an action was chosen to recover.
RecoverBasis: TypeAlias = Literal["known", "dismiss", "back", "relaunch", "home"]

# Why a recovery ended.
RecoverStop: TypeAlias = Literal["recovered", "nothingLeft", "unsaved", "disturbed", "failed", "limit", "timeout", "cancelled", "interrupted"]

# Format of a report.
ReportFormat: TypeAlias = Literal["html", "markdown", "junit", "json"]

# Outcome of a test.
ResultStatus: TypeAlias = Literal["passed", "failed", "skipped", "error"]

# Role of an element.
Role: TypeAlias = Literal["button", "field", "switch", "row", "list", "image", "text", "web", "view", "any"]

# How closely an experience matches the requested place.
Scope: TypeAlias = Literal["state", "page", "activity", "app"]

# How entries are searched.
SearchMode: TypeAlias = Literal["hybrid", "text", "vector"]

# A token or typed text; no response contains it.
Secret: TypeAlias = "str"

# Status of a session.
SessionStatus: TypeAlias = Literal["active", "ended"]

# Severity of a bug, worst first.
Severity: TypeAlias = Literal["critical", "high", "medium", "low"]

# Origin of a setting's value.
Source: TypeAlias = Literal["flag", "env", "file", "default"]

# Kind of state.
StateKind: TypeAlias = Literal["page", "dialog", "detected", "opaque"]

# Type of an entry that `recall.store` stores.
StoredType: TypeAlias = Literal["fact", "preference", "procedure"]

# What came instead of the expected outcome.
SurpriseKind: TypeAlias = Literal["popUp", "login", "error", "nothing", "otherPage", "newPage", "changed", "otherApp", "crash"]

# State of a background task.
TaskState: TypeAlias = Literal["running", "restarting"]

# Status of a task.
TaskStatus: TypeAlias = Literal["pending", "active", "passed", "failed", "skipped"]

# Whether the notes contain all words of the query.
TermMatch: TypeAlias = Literal["all", "any"]

# Form in which an action returns the resulting page.
Then: TypeAlias = Literal["outline", "diff", "page", "none"]

# Condition to wait for.
Until: TypeAlias = Literal["text", "activity", "gone", "settled"]

# Verb of an action: the operations of `act.*` and `recover.*`.
Verb: TypeAlias = Literal["tap", "longPress", "doubleTap", "hover", "swipe", "drag", "upload", "tab", "pageTool", "scroll", "scrollTo", "back", "home", "key", "text", "fill", "launch", "stop", "relaunch", "shell", "intent", "install", "uninstall", "clearApp", "grant", "configure", "wait"]


class ActResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    durationMs: int
    eventId: str
    look: NotRequired[Look]
    moved: NotRequired[bool]
    point: NotRequired[Point]
    recorded: NotRequired[bool]
    recovery: NotRequired[str]
    replayed: NotRequired[bool]
    result: str
    risky: NotRequired[bool]
    session: str
    target: NotRequired[Target]
    traceId: str
    unmarked: NotRequired[bool]


class ActUndoResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    action: NotRequired[str]
    at: NotRequired[StateRef]
    device: str
    durationMs: int
    eventId: NotRequired[str]
    look: NotRequired[Look]
    mayRemain: NotRequired[bool]
    probability: NotRequired[float]
    recorded: NotRequired[bool]
    replayed: NotRequired[bool]
    session: str
    text: str
    traceId: str
    undid: str
    undoes: str
    undone: bool


class Action(TypedDict):
    """An action that was or can be performed."""

    params: NotRequired[dict[str, Any]]
    point: NotRequired[Point]
    slots: NotRequired[List[str]]
    target: NotRequired[Target]
    verb: Verb


class ActiveElement(TypedDict):
    """An interactive element with its alias."""

    ref: str
    target: Target


class AddResult(TypedDict):
    """Result of `device.add`."""

    device: DeviceInfo
    savedIn: NotRequired[str]
    trial: NotRequired[Trial]


class Allocation(TypedDict):
    """Allocation of a token budget to the parts of a context; all fields are numbers of tokens."""

    buffer: int
    currentTask: int
    history: int
    knowledge: int
    system: int
    tools: int


class AppendResult(TypedDict):
    """Result of appending messages."""

    compacted: int
    contextSet: dict[str, str]
    first: int
    last: int
    session: str
    tokens: int
    usage: Usage


class Artifact(TypedDict):
    """A file that the daemon wrote."""

    artifactId: int
    contentHash: str
    createdAt: int
    device: NotRequired[str]
    filePath: str
    kind: str
    mimeType: str
    op: str
    session: str
    sizeBytes: int
    status: ArtifactStatus
    traceId: str
    uid: str


class ArtifactDetails(TypedDict):
    """An artifact, with its content if the content was requested."""

    artifactId: int
    base64: NotRequired[str]
    contentHash: str
    createdAt: int
    device: NotRequired[str]
    filePath: str
    kind: str
    mimeType: str
    op: str
    session: str
    sizeBytes: int
    status: ArtifactStatus
    text: NotRequired[str]
    traceId: str
    uid: str


class Artifacts(TypedDict):
    """A page of artifacts, newest first."""

    artifacts: List[Artifact]
    nextCursor: NotRequired[int]


class Backup(TypedDict):
    """A backup: a directory with copies of the database, the database key and the artifacts."""

    artifactBytes: int
    artifacts: int
    createdAt: int
    databaseBytes: int
    databaseHash: str
    keyHash: NotRequired[str]
    name: str
    origin: str
    reason: BackupReason
    schema: int
    version: str


class Backups(TypedDict):
    """Backups, newest first."""

    backups: List[Backup]
    dir: str
    totalBytes: int
    unreadable: NotRequired[List[str]]


class Bug(TypedDict):
    """A bug."""

    actual: NotRequired[str]
    app: NotRequired[str]
    createdAt: int
    description: NotRequired[str]
    expected: NotRequired[str]
    id: int
    origin: NotRequired[str]
    page: NotRequired[str]
    resolution: NotRequired[str]
    resolvedAt: NotRequired[int]
    scope: NotRequired[RecordScope]
    screenshot: NotRequired[str]
    session: str
    severity: Severity
    state: NotRequired[str]
    status: BugStatus
    steps: NotRequired[List[str]]
    task: NotRequired[str]
    title: str
    uid: str


class BugAddResult(TypedDict):
    """Result of `session.bug.add`."""

    bug: Bug
    missing: NotRequired[List[str]]
    similar: List[Bug]


class BugCounts(TypedDict):
    """Number of bugs by severity and by status."""

    critical: int
    high: int
    low: int
    medium: int
    open: int
    resolved: int
    total: int


class BugSummary(TypedDict):
    """Summary of a bug."""

    actual: NotRequired[str]
    id: str
    page: NotRequired[str]
    scope: NotRequired[RecordScope]
    severity: Severity
    status: BugStatus
    title: str


class Bugs(TypedDict):
    """A page of bugs, newest first."""

    bugs: List[Bug]
    counts: BugCounts
    nextCursor: NotRequired[int]


class CallProgress(TypedDict):
    """Progress of a call: the parameters of an `rpc.progress` notification."""

    done: int
    id: str | int
    message: str
    total: NotRequired[int]


class Change(TypedDict):
    """A change to the visual memory."""

    app: str
    at: int
    id: int
    op: ChangeOp
    site: NotRequired[str]
    uid: str
    undoneAt: NotRequired[int]
    what: str
    why: str


class Changes(TypedDict):
    """A page of changes, newest first."""

    changes: List[Change]
    nextCursor: NotRequired[int]


class CleanupResult(TypedDict):
    """Result of `visual.cleanup`."""

    app: str
    changes: List[RemovedComponent]
    dryRun: bool
    site: NotRequired[str]


class ClearResult(TypedDict):
    """Result of clearing a context."""

    messages: int
    session: str


class CompactResult(TypedDict):
    """Result of compacting a conversation."""

    facts: int
    messages: int
    session: str
    summary: NotRequired[SummaryInfo]
    tokensAfter: int
    tokensBefore: int


class CompletedTask(TypedDict):
    """A finished task."""

    completedAt: str
    description: str
    id: str
    scope: NotRequired[RecordScope]
    status: TaskStatus
    summary: str


class Component(TypedDict):
    """A component: an element that was learned."""

    bounds: NotRequired[str]
    confidence: NotRequired[float]
    consecutiveMisses: int
    hasPicture: bool
    label: NotRequired[str]
    lastSeen: int
    learnedAt: int
    name: str
    origin: NotRequired[str]
    resId: NotRequired[str]
    seenCount: int
    source: str
    states: List[str]
    type: str
    uid: str


class Components(TypedDict):
    """A page of components, in the order in which they were learned."""

    app: str
    components: List[Component]
    nextCursor: NotRequired[int]
    site: NotRequired[str]


class ConfigureResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    before: DeviceConfiguration
    device: str
    durationMs: int
    eventId: str
    look: NotRequired[Look]
    recorded: NotRequired[bool]
    replayed: NotRequired[bool]
    session: str
    traceId: str


class ConnectUsbResult(TypedDict):
    """Result of `device.connectUsb`."""

    configWritten: bool
    device: str
    devicePort: int
    deviceSerial: str
    forwarded: bool
    hint: ConnectionHint
    hintPath: str
    localPort: int
    nextStep: NotRequired[str]
    printOnly: bool
    remoteUrl: str
    reused: bool
    savedIn: NotRequired[str]
    tokenConfigured: bool
    transport: str


class Connection(TypedDict):
    """Connection to a device."""

    device: NotRequired[str]
    devicePort: NotRequired[int]
    localPort: NotRequired[int]
    transport: str
    url: str


class ConnectionHint(TypedDict):
    """Connection hint: a file that describes the service of the phone's app and that can be read with `adb`."""

    packageName: str
    servicePort: int
    serviceRunning: bool
    updatedAt: int | None
    versionCode: int | None
    versionName: str | None


class Context(TypedDict):
    """Base context of a screen observation."""

    app: str | None
    dialog: NotRequired[str]
    elements: NotRequired[List[Element]]
    hasWebView: bool
    hints: List[Hint]
    incidents: NotRequired[List[Incident]]
    mode: str
    nodeReliability: str
    observationId: str
    outline: NotRequired[str]
    page: PageRef
    reason: NotRequired[str]
    reliable: bool
    settled: bool
    since: NotRequired[str]
    tools: NotRequired[List[PublishedTool]]
    topActivity: str | None
    toward: NotRequired[Toward]


class ContextPart(TypedDict):
    """A part of a context."""

    messages: int
    part: str
    tokens: int


class ConversationInfo(TypedDict):
    """A conversation of a session."""

    conversation: str
    messages: int
    tokens: int
    uid: str


class Coverage(TypedDict):
    """A session's coverage of the pages and elements in the visual memory."""

    app: NotRequired[str]
    coveragePercent: float
    elements: Share
    elementsTested: int
    pages: Share
    pagesTested: Share
    pagesVisited: int


class CurrentTask(TypedDict):
    """The active task."""

    description: str
    id: str
    lastAction: str
    progress: str
    scope: NotRequired[RecordScope]
    startedAt: str


class DaemonStatus(TypedDict):
    """Status of the daemon."""

    callsInFlight: int
    config: str
    configError: NotRequired[str]
    configWarnings: List[str]
    connections: int
    database: str
    devices: List[DeviceInfo]
    lastBackupAt: NotRequired[int]
    log: NotRequired[str]
    pid: int
    sizes: Sizes
    socket: str
    store: StoreStatus
    tasks: List[TaskInfo]
    uptimeMs: int
    version: str


class DaemonVersion(TypedDict):
    """Version and capabilities of the daemon, which do not change while it runs."""

    capabilities: List[str]
    pid: int
    protocol: int
    startedAt: int
    version: str


class DeleteMessageResult(TypedDict):
    """Result of deleting a message."""

    backups: NotRequired[List[str]]
    derived: int
    filesLeft: NotRequired[List[str]]
    position: int
    session: str


class DeleteResult(TypedDict):
    """Result of `pattern.delete` and `pageModel.delete`."""

    id: int
    uid: str


class Deleted(TypedDict):
    """Result of `session.delete`."""

    backups: NotRequired[List[str]]
    derived: int
    filesLeft: NotRequired[List[str]]
    findings: int
    kept: int
    messages: int
    remainder: NotRequired[str]
    session: str
    tasks: int
    uid: str


class DeletedArtifact(TypedDict):
    """Result of `artifact.delete`."""

    artifactId: int
    fileDeleted: bool


class DeletedBackup(TypedDict):
    """Result of `backup.delete`."""

    name: str


class DeletedNote(TypedDict):
    """Result of `memory.delete`."""

    backups: NotRequired[List[str]]
    chainLength: int
    id: int
    uid: str


class Detection(TypedDict):
    """An element that a detector found in a picture."""

    box: List[int]
    confidence: NotRequired[float]
    crop: NotRequired[str]
    label: NotRequired[str]
    name: NotRequired[str]
    type: NotRequired[str]


class DeviceConfiguration(TypedDict):
    """Settings of a device."""

    airplaneMode: NotRequired[bool]
    darkMode: NotRequired[bool]
    locale: NotRequired[str]
    localeApp: NotRequired[str]
    orientation: NotRequired[Orientation]


class DeviceInfo(TypedDict):
    """A device and its last known state."""

    capabilities: List[str]
    error: NotRequired[str]
    kind: str
    lastSeenAt: NotRequired[int]
    lease: NotRequired[LeaseInfo]
    name: str
    source: DeviceSource
    state: DeviceState
    url: str
    waiting: int


class DeviceLogReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    lines: List[LogRow]
    recorded: NotRequired[bool]
    session: str
    sinceMs: int
    traceId: str
    truncated: bool


class DeviceTabListReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    recorded: NotRequired[bool]
    session: str
    tabs: List[TabInfo]
    traceId: str


class Devices(TypedDict):
    """Result of `device.list`: all devices."""

    devices: List[DeviceInfo]


class Diagnosis(TypedDict):
    """Result of `daemon.doctor`."""

    findings: List[Finding]
    ok: bool


class Dismissal(TypedDict):
    """An action that dismisses a pop-up."""

    action: str
    count: int
    probability: float


class DownloadInfo(TypedDict):
    """A download."""

    artifact: NotRequired[SavedArtifact]
    bytes: int
    name: str
    state: DownloadStatus


class DownloadListReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    downloads: List[DownloadInfo]
    recorded: NotRequired[bool]
    session: str
    traceId: str


class DumpOutline(TypedDict):
    """Result of `observe.dump`."""

    interactive: int
    outline: str
    size: NotRequired[List[int]]


class Element(TypedDict):
    """An element on the screen, including plain text."""

    depth: int
    disabled: NotRequired[bool]
    label: NotRequired[str]
    leadsTo: NotRequired[LeadsTo]
    ref: NotRequired[str]
    risky: NotRequired[bool]
    role: Role
    value: NotRequired[str]


class EmbeddingModel(TypedDict):
    """An embedding model."""

    dimensions: NotRequired[int]
    embedded: int
    error: NotRequired[str]
    identity: str
    pending: int


class EndResult(TypedDict):
    """Result of `session.end`."""

    compacted: int
    endedAt: int
    progressFile: NotRequired[str]
    report: ReportResult
    session: str
    summary: str
    warnings: NotRequired[List[str]]


class EntryCount(TypedDict):
    """Number of entries of a given type."""

    count: int
    type: str


class Evaluation(TypedDict):
    """Quality of the results that one search method returns."""

    mrr: float
    p50Ms: float
    p99Ms: float
    recallAt10: float
    recallAt25: float
    recallAt5: float
    way: str
    weak: NotRequired[float]
    weakUnanswered: NotRequired[float]


class EvaluationGroup(TypedDict):
    """Evaluation of each search method on a set of queries."""

    name: str
    queries: int
    unanswered: int
    ways: List[Evaluation]


class Event(TypedDict):
    """A recorded action, verification or recovery."""

    action: NotRequired[Action]
    activity: NotRequired[str]
    app: NotRequired[str]
    at: int
    category: Category
    cursor: int
    device: str
    durationMs: int
    evidence: NotRequired[Any]
    failureCause: NotRequired[str]
    op: str
    page: NotRequired[PageRef]
    parent: NotRequired[str]
    seq: int
    session: str
    status: EventStatus
    traceId: str
    uid: str


class Experience(TypedDict):
    """Result of `memory.experience`: the closest matches first; among equally close matches, the best first."""

    recoveries: List[Recovery]
    transitions: List[Transition]


class Export(TypedDict):
    """Complete record of a session."""

    artifacts: List[Artifact]
    blockers: List[str]
    bugs: List[Bug]
    context: dict[str, str]
    conversations: NotRequired[List[ExportedConversation]]
    coverage: Coverage
    durationMs: int
    events: List[Event]
    format: str
    info: SessionInfo
    messages: List[RecordedMessage]
    nextSteps: List[str]
    notes: List[Note]
    pages: List[VisitedPage]
    patterns: List[Pattern]
    results: List[TestResult]
    statistics: Statistics
    summaries: List[SummaryInfo]
    summary: str
    tasks: List[Task]
    tested: List[TestedElement]
    version: int


class ExportResult(TypedDict):
    """Result of `session.export`: the document, or the location of the file."""

    artifactId: NotRequired[int]
    document: NotRequired[Export]
    file: NotRequired[str]
    session: str
    sizeBytes: int


class ExportedConversation(TypedDict):
    """A conversation with its messages."""

    conversation: str
    messages: List[RecordedMessage]
    summaries: List[SummaryInfo]


class ExportedMemory(TypedDict):
    """Result of `memory.export`."""

    bytes: int
    file: str
    records: dict[str, int]


class ExportedScope(TypedDict):
    """Export result for an app or site."""

    app: str
    components: int
    dir: str
    missingPictures: int
    pictures: int
    site: NotRequired[str]
    states: int
    transitions: int


class FileRemark(TypedDict):
    """Remark about data that was skipped or changed."""

    file: str
    key: str
    why: str


class Finding(TypedDict):
    """Result of a check."""

    advice: NotRequired[str]
    check: str
    level: Level
    message: str


class FoundComponent(TypedDict):
    """A component that was found."""

    bounds: str
    how: MatchStage
    likeness: float
    moved: bool
    name: str
    x: float
    y: float


class FoundMessage(TypedDict):
    """A message found by `conversation.search`."""

    at: int
    conversation: str
    name: NotRequired[str]
    position: int
    role: MessageRole
    score: float
    session: str
    text: str
    uid: str


class FoundMessages(TypedDict):
    """Result of `conversation.search`, best match first."""

    matched: TermMatch
    messages: List[FoundMessage]
    missing: NotRequired[List[str]]


class Function(TypedDict):
    """The `function` or `custom` field of a tool call in OpenAI's format."""

    arguments: NotRequired[Any]
    name: str


class GoStep(TypedDict):
    """A step of a walk."""

    action: str
    asExpected: NotRequired[bool]
    eventId: NotRequired[str]
    expected: NotRequired[str]
    failureCause: NotRequired[str]
    kind: GoStepKind
    ledTo: NotRequired[str]
    probability: NotRequired[float]


class GoToResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    arrived: bool
    at: NotRequired[StateRef]
    device: str
    durationMs: int
    failureCause: NotRequired[str]
    goal: str
    look: NotRequired[Look]
    recorded: NotRequired[bool]
    replayed: NotRequired[bool]
    session: str
    steps: List[GoStep]
    stopped: GoStop
    text: str
    traceId: str


# A transition between two states.
GraphTransition = TypedDict("GraphTransition", {"action": "str", "attempts": "int", "count": "int", "from": "str", "fromName": "NotRequired[str]", "key": "str", "lastUsed": "NotRequired[int]", "meanMs": "NotRequired[int]", "probability": "float", "selector": "NotRequired[TargetSelector]", "successRate": "float", "target": "NotRequired[Target]", "to": "str", "toName": "NotRequired[str]"})


class HealthReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    connection: Connection
    device: str
    durationMs: int
    kind: str
    recorded: NotRequired[bool]
    session: str
    status: str
    token: str
    traceId: str


class Hint(TypedDict):
    """Knowledge that helps on the current page."""

    alias: NotRequired[str]
    confidence: float
    evidence: List[str]
    first: NotRequired[str]
    kind: HintKind
    outcome: NotRequired[str]
    selector: NotRequired[TargetSelector]
    target: NotRequired[Target]
    text: str


class ImportCounts(TypedDict):
    """Counts of the imported records of one type."""

    added: int
    leftOut: int
    present: int
    renewed: int


class ImportReport(TypedDict):
    """Result of `memory.importAf`."""

    artifacts: Tally
    dryRun: bool
    events: Tally
    notes: Tally
    recoveries: Tally
    remarkCount: int
    remarks: List[Remark]
    settings: List[ImportedSetting]
    transitions: Tally


class Imported(TypedDict):
    """Result of `session.import`."""

    inserted: dict[str, int]
    leftOut: int
    present: int
    renewed: int
    session: str
    uid: str


class ImportedMemory(TypedDict):
    """Result of `memory.import`."""

    dryRun: bool
    records: dict[str, ImportCounts]
    remarks: NotRequired[List[str]]


class ImportedScope(TypedDict):
    """Import result for an app or site."""

    app: str
    components: Tally
    dir: str
    pictures: Tally
    remarks: List[FileRemark]
    site: NotRequired[str]
    states: Tally
    transitions: Tally


class ImportedSetting(TypedDict):
    """Import result for a setting."""

    key: str
    outcome: ImportOutcome
    remark: str


class Incident(TypedDict):
    """An app that crashed or does not respond."""

    app: str
    kind: IncidentKind
    report: str


class Interrupt(TypedDict):
    """A pop-up that appears over several states on its own."""

    dismissals: List[Dismissal]
    over: List[str]


class Job(TypedDict):
    """A background job."""

    about: str
    everyMs: int
    lastDurationMs: NotRequired[int]
    lastError: NotRequired[str]
    lastResult: NotRequired[str]
    lastRunAt: NotRequired[int]
    name: str
    running: bool
    runs: int


class Jobs(TypedDict):
    """Result of `job.list`: all jobs."""

    jobs: List[Job]


class LastFound(TypedDict):
    """Findings of the last session about an app."""

    endedAt: NotRequired[int]
    found: NotRequired[List[str]]
    results: ResultCounts
    session: str
    summary: NotRequired[str]


class LastPageReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    at: int
    device: str
    observationId: str
    outdated: bool
    outline: str
    recorded: NotRequired[bool]
    seenBy: str
    session: str
    settled: bool
    traceId: str


class LeadsTo(TypedDict):
    """The most likely outcome of tapping an element."""

    dialog: NotRequired[bool]
    guess: NotRequired[bool]
    kind: OutcomeKind
    name: NotRequired[str]
    probability: float
    state: NotRequired[str]


class LearnResult(TypedDict):
    """Result of `visual.learn`."""

    app: str
    learnCount: int
    missed: int
    newComponents: int
    newState: bool
    picture: NotRequired[str]
    seen: int
    site: NotRequired[str]
    skipped: NotRequired[List[str]]
    source: str
    state: NotRequired[StateRef]


class LeaseInfo(TypedDict):
    """Exclusive right of a session to act on a device, for a limited time."""

    remainingMs: int
    session: str


class LeaseResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    lease: LeaseInfo
    recorded: NotRequired[bool]
    session: str
    traceId: str


class LeftOpen(TypedDict):
    """Open work from earlier sessions about an app, as far as it is shared with other sessions of the app."""

    blockers: NotRequired[List[str]]
    bugs: List[str]
    bugsTotal: int
    endedAt: NotRequired[int]
    goal: NotRequired[str]
    last: NotRequired[LastFound]
    nextSteps: NotRequired[List[str]]
    session: NotRequired[str]
    summary: NotRequired[str]
    tasks: List[str]
    tasksTotal: int


class LikelyOutcome(TypedDict):
    """A possible outcome of an action."""

    dialog: NotRequired[bool]
    kind: OutcomeKind
    name: NotRequired[str]
    probability: float
    state: NotRequired[str]


class Log(TypedDict):
    """A page of events, newest first."""

    events: List[Event]
    nextCursor: NotRequired[int]


class LogRow(TypedDict):
    """A line of a device's log."""

    at: int
    level: LogLevel
    pid: int
    tag: str
    text: str


class Look(TypedDict):
    """Outcome of an action."""

    asExpected: NotRequired[bool]
    changed: bool | None
    expected: NotRequired[str]
    incidents: NotRequired[List[Incident]]
    keyboard: NotRequired[KeyboardChange]
    news: NotRequired[str]
    note: NotRequired[str]
    observation: NotRequired[Context]
    refs: NotRequired[RefRows]
    surprise: NotRequired[Surprise]
    waitedMs: int
    warning: NotRequired[str]


class MatchResult(TypedDict):
    """Result of `visual.match`."""

    app: str
    flat: List[str]
    found: List[FoundComponent]
    lookedFor: int
    missing: List[str]
    site: NotRequired[str]
    tookMs: int


class Message(TypedDict):
    """A message of a conversation."""

    content: NotRequired[Content]
    extra: NotRequired[dict[str, Any]]
    failed: NotRequired[bool]
    name: NotRequired[str]
    role: MessageRole
    toolCallId: NotRequired[str]
    toolCalls: NotRequired[List[ToolCall]]


class Messages(TypedDict):
    """A page of messages, newest first."""

    messages: List[RecordedMessage]
    nextCursor: NotRequired[int]


class MethodList(TypedDict):
    """Result of `daemon.methods`."""

    methods: List[MethodSummary]


class MethodLoad(TypedDict):
    """Call statistics of one method since the start of the daemon."""

    calls: int
    errors: int
    maxUs: int
    meanUs: int
    name: str


class MethodSummary(TypedDict):
    """A row of the method table, without the schemas."""

    effect: Effect
    errors: List[ErrorCode]
    name: str
    requestKey: bool
    summary: str
    takes: SharedParams


class Metrics(TypedDict):
    """Result of `daemon.metrics`."""

    methods: List[MethodLoad]
    text: str


class ModelAdded(TypedDict):
    """Result of `model.add`."""

    dimensions: int
    directory: str
    identity: str
    pending: int
    sentenceMs: float


class ModelContext(TypedDict):
    """Messages for the model's next turn."""

    allocation: Allocation
    budget: int
    context: dict[str, str]
    leftOut: List[Omission]
    messages: List[Any]
    parts: List[ContextPart]
    savedPercent: float
    session: str
    stableMessages: int
    system: NotRequired[List[Any]]
    tokenizer: str
    tokens: int
    tokensOfAll: int
    toolsTokens: int


class ModelRemoved(TypedDict):
    """Result of `model.remove`."""

    deleted: int


class Note(TypedDict):
    """A note."""

    app: NotRequired[str]
    content: str
    createdAt: int
    id: int
    origin: NotRequired[str]
    position: int
    scope: NotRequired[RecordScope]
    score: NotRequired[float]
    session: str
    snippet: NotRequired[str]
    topic: str
    uid: str


class Notes(TypedDict):
    """A page of notes."""

    matched: NotRequired[TermMatch]
    missing: NotRequired[List[str]]
    nextCursor: NotRequired[int]
    notes: List[Note]


class ObservationNotice(TypedDict):
    """Notification that a session has observed a device."""

    activity: str | None
    at: int
    device: str
    observationId: str
    seq: int
    session: str
    settled: bool
    source: ObservationSource


class Omission(TypedDict):
    """Content that was omitted from a context."""

    count: int
    tokens: int
    what: str
    why: str


class Outcome(TypedDict):
    """An outcome of an action, and how often it occurred."""

    count: int
    dialog: bool
    failureCause: NotRequired[str]
    kind: OutcomeKind
    meanMs: NotRequired[int]
    name: NotRequired[str]
    page: NotRequired[PageRef]
    share: float
    verifiedCount: int


class OverlayReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    autoRefresh: bool
    available: bool
    device: str
    enabled: bool
    markCount: int
    offsetX: int
    offsetY: int
    recorded: NotRequired[bool]
    refreshIntervalMs: int
    session: str
    traceId: str


class PackagesReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    packages: List[str]
    recorded: NotRequired[bool]
    session: str
    traceId: str


class PageElement(TypedDict):
    """An element of a page model."""

    name: str
    role: NotRequired[str]
    rule: NotRequired[str]
    selector: NotRequired[str]


class PageModel(TypedDict):
    """A model of a page."""

    app: NotRequired[str]
    elements: List[PageElement]
    id: int
    origin: NotRequired[str]
    page: str
    pageType: str
    seenCount: int
    similarity: NotRequired[float]
    stabilityScore: float
    uid: str
    updatedAt: int


class PageModels(TypedDict):
    """Result of `pageModel.find`, most similar first."""

    page: NotRequired[str]
    pageModels: List[PageModel]


class PageRef(TypedDict):
    """Identity of a page."""

    fingerprint: str
    key: str
    state: NotRequired[str]


class PageReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    app: str | None
    device: str
    dialog: NotRequired[str]
    elements: NotRequired[List[Element]]
    hasWebView: bool
    hints: List[Hint]
    incidents: NotRequired[List[Incident]]
    mode: str
    nodeReliability: str
    observationId: str
    outline: NotRequired[str]
    page: PageRef
    reason: NotRequired[str]
    recorded: NotRequired[bool]
    refs: NotRequired[RefRows]
    reliable: bool
    screen: NotRequired[ScreenRows]
    session: str
    settled: bool
    since: NotRequired[str]
    tools: NotRequired[List[PublishedTool]]
    topActivity: str | None
    toward: NotRequired[Toward]
    traceId: str


class PageSnapshot(TypedDict):
    """Details of a page observation."""

    contentHash: NotRequired[str]
    fingerprint: NotRequired[str]
    nodeCount: NotRequired[int]
    observationId: str
    refCount: NotRequired[int]


class PageTextReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    lines: List[str]
    next: NotRequired[int]
    observationId: str
    recorded: NotRequired[bool]
    session: str
    title: NotRequired[str]
    traceId: str
    whole: bool


class PageToolResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    artifact: NotRequired[SavedArtifact]
    device: str
    durationMs: int
    eventId: str
    look: NotRequired[Look]
    output: NotRequired[str]
    recorded: NotRequired[bool]
    replayed: NotRequired[bool]
    session: str
    traceId: str
    truncated: NotRequired[bool]


# Result of `visual.path`.
Path = TypedDict("Path", {"alternatives": "NotRequired[List[Route]]", "app": "str", "from": "StateRef", "interrupts": "NotRequired[List[State]]", "known": "bool", "nearest": "NotRequired[StateRef]", "route": "NotRequired[Route]", "site": "NotRequired[str]", "text": "str", "to": "StateRef"})


class Pattern(TypedDict):
    """A pattern: a learned statement with its confidence."""

    app: NotRequired[str]
    confidence: float
    createdAt: int
    data: NotRequired[Any]
    failureCount: int
    id: int
    kind: PatternKind
    lastUsedAt: NotRequired[int]
    origin: NotRequired[str]
    page: NotRequired[str]
    scope: PatternScope
    session: NotRequired[str]
    source: NotRequired[str]
    successCount: int
    text: str
    uid: str
    usageCount: int


class Patterns(TypedDict):
    """Result of `pattern.find` and `pattern.list`."""

    page: NotRequired[str]
    patterns: List[Pattern]


class PendingTask(TypedDict):
    """A pending task."""

    blockedBy: NotRequired[List[str]]
    description: str
    id: str
    priority: int
    scope: NotRequired[RecordScope]


class Point(TypedDict):
    """A point in device pixels, from the top left of the screen."""

    x: float
    y: float


# An action and the outcomes to expect of it.
PredictedAction = TypedDict("PredictedAction", {"action": "Action", "alias": "NotRequired[str]", "attempts": "int", "from": "PredictedFrom", "guess": "NotRequired[bool]", "outcomes": "List[LikelyOutcome]", "text": "str", "unknown": "float"})


class PredictionsReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    before: NotRequired[str]
    device: str
    observationId: str
    page: PageRef
    predictions: List[PredictedAction]
    recorded: NotRequired[bool]
    session: str
    traceId: str


class Progress(TypedDict):
    """Machine-readable progress of a session; the content of a progress file."""

    agentVersion: str
    app: NotRequired[str]
    blockers: List[str]
    bugs: List[BugSummary]
    completedTasks: List[CompletedTask]
    context: dict[str, str]
    coverage: ProgressCoverage
    criticalFindings: List[str]
    currentTask: CurrentTask | None
    goal: NotRequired[str]
    lastCommit: str | None
    nextSteps: List[str]
    pages: NotRequired[List[VisitedPage]]
    pendingTasks: List[PendingTask]
    results: NotRequired[List[ResultSummary]]
    scope: NotRequired[RecordScope]
    sessionId: str
    startedAt: NotRequired[str]
    stated: NotRequired[Stated]
    statistics: Statistics
    summary: str
    tested: NotRequired[List[TestedElement]]
    timestamp: str
    uncommittedChanges: List[str]


class ProgressCoverage(TypedDict):
    """Summary of the coverage."""

    coveragePercent: float
    elementsTestedCount: int
    pagesVisited: List[str]


class ProgressResult(TypedDict):
    """Result of `session.progress`."""

    auto: bool
    file: str
    progress: Progress
    reportFile: str
    session: str
    warnings: NotRequired[List[str]]


class Pruned(TypedDict):
    """Result of `memory.prune`."""

    before: int
    dryRun: bool
    events: int
    observations: int
    usedBytes: int


class PublishedTool(TypedDict):
    """A tool that a page publishes."""

    description: NotRequired[str]
    inputSchema: NotRequired[Any]
    name: str
    readOnly: NotRequired[bool]


class QdrantStatus(TypedDict):
    """State of the upload to a Qdrant server."""

    collection: NotRequired[str]
    error: NotRequired[str]
    pending: int
    url: str


class RecallContext(TypedDict):
    """Result of `recall.context`."""

    entries: List[str]
    missing: NotRequired[List[str]]
    task: str
    text: str
    tokens: int


class RecallDeleted(TypedDict):
    """Result of `recall.delete`."""

    backups: NotRequired[List[str]]
    qdrant: NotRequired[str]
    uid: str


class RecallEntry(TypedDict):
    """A recall entry."""

    app: NotRequired[str]
    at: int
    confidence: float
    cut: NotRequired[bool]
    duplicates: NotRequired[List[str]]
    expiresAt: NotRequired[int]
    id: NotRequired[int]
    lastUsedAt: NotRequired[int]
    origin: NotRequired[str]
    related: NotRequired[List[str]]
    scope: PatternScope
    score: NotRequired[float]
    session: NotRequired[str]
    site: NotRequired[str]
    source: str
    tags: NotRequired[List[str]]
    text: str
    title: NotRequired[str]
    type: EntryType
    uid: str
    useCount: NotRequired[int]
    weak: NotRequired[bool]
    why: NotRequired[Why]


class RecallEvaluated(TypedDict):
    """Result of `recall.evaluate`."""

    entries: int
    groups: List[EvaluationGroup]
    model: str


class RecallFound(TypedDict):
    """Result of `recall.search`."""

    entries: List[RecallEntry]
    missing: NotRequired[List[str]]
    model: str


class RecallStatus(TypedDict):
    """Result of `recall.status`."""

    due: int
    entries: List[EntryCount]
    indexBytes: int
    models: List[EmbeddingModel]
    qdrant: NotRequired[QdrantStatus]


class RecallStored(TypedDict):
    """Result of `recall.store`."""

    entry: RecallEntry
    missing: NotRequired[List[str]]
    similar: List[RecallEntry]
    updated: NotRequired[bool]


class RecallUpkeep(TypedDict):
    """Result of `recall.upkeep`."""

    changes: List[UpkeepChange]
    dryRun: bool
    runs: List[UpkeepRun]
    similar: NotRequired[List[SimilarPatterns]]
    similarCount: int


class RecentObservation(TypedDict):
    """Summary of an observation."""

    activity: NotRequired[str]
    app: NotRequired[str]
    at: int
    device: str
    observationId: str
    pageKey: NotRequired[str]
    reliable: bool
    settled: bool
    source: ObservationSource


class RecordedMessage(TypedDict):
    """A recorded message."""

    at: int
    content: NotRequired[Content]
    extra: NotRequired[dict[str, Any]]
    failed: NotRequired[bool]
    inContext: bool
    name: NotRequired[str]
    origin: NotRequired[str]
    position: int
    role: MessageRole
    tokenizer: str
    tokens: int
    toolCallId: NotRequired[str]
    toolCalls: NotRequired[List[ToolCall]]
    turn: int
    uid: str


class RecordingSavedReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    artifact: SavedArtifact
    device: str
    durationMs: int
    recorded: NotRequired[bool]
    session: str
    sizeBytes: int
    traceId: str


class RecordingStartedReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    maxMs: int
    recorded: NotRequired[bool]
    session: str
    traceId: str


class RecoverAutoResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    at: NotRequired[StateRef]
    device: str
    durationMs: int
    failedWith: NotRequired[str]
    failureCause: NotRequired[str]
    failureEventId: NotRequired[str]
    look: NotRequired[Look]
    recorded: NotRequired[bool]
    recovered: bool
    replayed: NotRequired[bool]
    session: str
    steps: List[RecoverStep]
    stopped: RecoverStop
    text: str
    traceId: str


class RecoverResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    durationMs: int
    eventId: str
    failureCause: NotRequired[str]
    failureEventId: NotRequired[str]
    look: NotRequired[Look]
    recorded: NotRequired[bool]
    replayed: bool
    result: str
    session: str
    traceId: str


class RecoverStep(TypedDict):
    """An action that was taken to recover."""

    action: str
    basis: RecoverBasis
    eventId: NotRequired[str]
    failureCause: NotRequired[str]
    ledTo: NotRequired[str]
    tried: NotRequired[int]
    worked: NotRequired[int]


class Recovery(TypedDict):
    """Experience with a recovery from a failure."""

    failureCause: str
    failureCount: int
    lastSuccessAt: NotRequired[int]
    leftAppCount: int
    matchScope: Scope
    preActivity: str
    preName: NotRequired[str]
    prePage: PageRef
    recovery: Action
    successCount: int
    text: str
    uid: str
    undecidedCount: int


# A ref: an interactive element with an alias.
RefRow = TypedDict("RefRow", {"bounds": "str", "class": "str", "desc": "NotRequired[str]", "detail": "NotRequired[str]", "flags": "str", "label": "str", "leadsTo": "NotRequired[LeadsTo]", "nodeId": "str", "ref": "str", "resId": "NotRequired[str]", "risky": "NotRequired[bool]", "text": "NotRequired[str]", "title": "NotRequired[str]", "window": "NotRequired[str]"})


class RefRows(TypedDict):
    """Refs of an observation."""

    artifact: NotRequired[SavedArtifact]
    refCount: int
    refVersion: int
    returnedRows: int
    rows: List[RefRow]
    rowsInArtifact: NotRequired[bool]
    truncated: bool


class RefsReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    app: str | None
    artifact: NotRequired[SavedArtifact]
    device: str
    dialog: NotRequired[str]
    elements: NotRequired[List[Element]]
    hasWebView: bool
    hints: List[Hint]
    incidents: NotRequired[List[Incident]]
    mode: str
    nodeReliability: str
    observationId: str
    outline: NotRequired[str]
    page: PageRef
    reason: NotRequired[str]
    recorded: NotRequired[bool]
    refCount: int
    refVersion: int
    reliable: bool
    returnedRows: int
    rows: List[RefRow]
    rowsInArtifact: NotRequired[bool]
    session: str
    settled: bool
    since: NotRequired[str]
    tools: NotRequired[List[PublishedTool]]
    topActivity: str | None
    toward: NotRequired[Toward]
    traceId: str
    truncated: bool


class ReleaseResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    recorded: NotRequired[bool]
    released: bool
    session: str
    traceId: str


class ReloadResult(TypedDict):
    """Result of reloading the configuration file."""

    added: List[str]
    changed: List[str]
    removed: List[str]
    restartNeeded: List[str]
    warnings: List[str]


class Remark(TypedDict):
    """Remark about a row that was corrected or skipped."""

    id: int
    outcome: ImportOutcome
    table: str
    why: str


class RemoveResult(TypedDict):
    """Result of `device.remove`."""

    removed: str


class RemovedComponent(TypedDict):
    """A component that was deleted because its text is dynamic."""

    component: str
    historyId: NotRequired[int]
    why: str


class RenameResult(TypedDict):
    """Result of `visual.rename`."""

    app: str
    historyId: int
    kind: ItemKind
    new: str
    old: str
    site: NotRequired[str]


class RenderedGraph(TypedDict):
    """Result of `visual.graph`."""

    app: str
    artifact: NotRequired[SavedArtifact]
    format: GraphFormat
    graph: NotRequired[str]
    site: NotRequired[str]
    states: int
    transitions: int


class ReportResult(TypedDict):
    """Result of `session.report`."""

    artifactId: int
    file: str
    format: ReportFormat
    pictures: int
    session: str
    sizeBytes: int


class ResultCounts(TypedDict):
    """Number of test results by outcome."""

    error: int
    failed: int
    passed: int
    skipped: int
    total: int


class ResultSummary(TypedDict):
    """Summary of a test result."""

    durationMs: NotRequired[int]
    id: str
    name: str
    page: NotRequired[str]
    scope: NotRequired[RecordScope]
    status: ResultStatus
    summary: NotRequired[str]


class Results(TypedDict):
    """A page of test results, newest first."""

    counts: ResultCounts
    nextCursor: NotRequired[int]
    results: List[TestResult]


class ResumeResult(TypedDict):
    """Result of `session.resume`."""

    context: dict[str, str]
    fromFile: bool
    progress: Progress
    reopened: bool
    resumptionPrompt: str
    session: str
    summary: str
    taskQueue: List[Task]


class Route(TypedDict):
    """A route from one state to another."""

    expectedMs: int
    probability: float
    steps: List[GraphTransition]


# A node of the screen.
Row = TypedDict("Row", {"bounds": "NotRequired[str]", "class": "NotRequired[str]", "desc": "NotRequired[str]", "flags": "NotRequired[str]", "id": "NotRequired[str]", "resId": "NotRequired[str]", "text": "NotRequired[str]"})


class SavedArtifact(TypedDict):
    """Reference to a file that a call saved."""

    artifactId: int
    contentHash: str
    kind: str
    mimeType: str
    savedFile: str
    sizeBytes: int


class SavedNote(TypedDict):
    """Result of `memory.save`."""

    chainLength: int
    missing: NotRequired[List[str]]
    note: Note
    similar: List[SimilarNote]


class ScreenReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    app: str | None
    artifact: NotRequired[SavedArtifact]
    device: str
    dialog: NotRequired[str]
    elements: NotRequired[List[Element]]
    hasWebView: bool
    hints: List[Hint]
    incidents: NotRequired[List[Incident]]
    mode: str
    nodeReliability: str
    observationId: str
    outline: NotRequired[str]
    page: PageRef
    reason: NotRequired[str]
    recorded: NotRequired[bool]
    reliable: bool
    returnedRows: int
    rowCount: int
    rows: List[Row]
    rowsInArtifact: NotRequired[bool]
    session: str
    settled: bool
    since: NotRequired[str]
    tools: NotRequired[List[PublishedTool]]
    topActivity: str | None
    toward: NotRequired[Toward]
    traceId: str
    truncated: bool
    windows: NotRequired[List[WindowRow]]


class ScreenRows(TypedDict):
    """Rows of the screen."""

    artifact: NotRequired[SavedArtifact]
    returnedRows: int
    rowCount: int
    rows: List[Row]
    rowsInArtifact: NotRequired[bool]
    truncated: bool
    windows: NotRequired[List[WindowRow]]


class ScreenshotReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    annotate: bool
    artifact: SavedArtifact
    device: str
    deviceHeight: NotRequired[int]
    deviceWidth: NotRequired[int]
    height: int
    hideOverlay: bool
    left: NotRequired[int]
    markCount: NotRequired[int]
    markScope: NotRequired[MarkScope]
    maxDim: int
    maxMarks: NotRequired[int]
    mimeType: str
    observationId: NotRequired[str]
    quality: int
    recorded: NotRequired[bool]
    refs: NotRequired[RefRows]
    scale: NotRequired[float]
    screenshotBase64: NotRequired[str]
    session: str
    settled: NotRequired[bool]
    sizeBytes: int
    top: NotRequired[int]
    traceId: str
    width: int


class ScrollToResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    device: str
    durationMs: int
    eventId: str
    look: NotRequired[Look]
    point: NotRequired[Point]
    recorded: NotRequired[bool]
    replayed: NotRequired[bool]
    result: str
    scrolls: int
    session: str
    target: NotRequired[Target]
    traceId: str


class SessionContext(TypedDict):
    """Result of `memory.context`: the last observation of a session."""

    activity: NotRequired[str]
    app: NotRequired[str]
    device: NotRequired[str]
    fingerprintSource: NotRequired[str]
    found: bool
    hasWebView: NotRequired[bool]
    mode: NotRequired[str]
    nodeReliability: NotRequired[str]
    observationId: NotRequired[str]
    observedAt: NotRequired[int]
    pageFingerprint: NotRequired[str]
    pageKey: NotRequired[str]
    refVersion: NotRequired[int]
    session: str
    stale: bool


class SessionDetails(TypedDict):
    """A session with all the information needed to continue it."""

    app: NotRequired[str]
    autoProgress: bool
    before: NotRequired[LeftOpen]
    blockers: List[str]
    bugs: BugCounts
    context: dict[str, str]
    conversations: NotRequired[List[ConversationInfo]]
    coverage: Coverage
    currentTask: NotRequired[CurrentTask]
    directory: NotRequired[str]
    endedAt: NotRequired[int]
    goal: NotRequired[str]
    lastActivityAt: int
    nextSteps: List[str]
    openBugs: List[Bug]
    origin: NotRequired[str]
    pages: List[VisitedPage]
    queue: List[Task]
    results: ResultCounts
    scope: NotRequired[RecordScope]
    session: str
    startedAt: int
    statistics: Statistics
    status: SessionStatus
    summary: str
    tasks: TaskCounts
    uid: str


class SessionInfo(TypedDict):
    """A session with counts of its tasks, bugs and test results."""

    app: NotRequired[str]
    autoProgress: bool
    bugs: BugCounts
    directory: NotRequired[str]
    endedAt: NotRequired[int]
    goal: NotRequired[str]
    lastActivityAt: int
    origin: NotRequired[str]
    results: ResultCounts
    scope: NotRequired[RecordScope]
    session: str
    startedAt: int
    status: SessionStatus
    tasks: TaskCounts
    uid: str


class Sessions(TypedDict):
    """A page of sessions, newest first."""

    nextCursor: NotRequired[int]
    sessions: List[SessionInfo]


class Setting(TypedDict):
    """A setting."""

    about: str
    key: str
    needsRestart: NotRequired[bool]
    origin: NotRequired[str]
    source: Source
    value: Any


class SettingChange(TypedDict):
    """Result of `config.set` and `config.unset`."""

    about: str
    changed: bool
    file: str
    key: str
    needsRestart: NotRequired[bool]
    origin: NotRequired[str]
    source: Source
    value: Any


class Settings(TypedDict):
    """Result of `config.list`: all settings."""

    file: str
    settings: List[Setting]


class Share(TypedDict):
    """Coverage of one kind of item."""

    covered: int
    known: int
    missing: List[str]
    percent: float


class SharedParams(TypedDict):
    """Which common parameters a method accepts, so that clients can fill them in from their own options."""

    device: DeviceUse
    session: bool
    timeout: bool


class ShellResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    artifact: NotRequired[SavedArtifact]
    device: str
    durationMs: int
    eventId: str
    look: NotRequired[Look]
    output: NotRequired[str]
    recorded: NotRequired[bool]
    replayed: NotRequired[bool]
    session: str
    traceId: str
    truncated: NotRequired[bool]


class ShutdownResult(TypedDict):
    """Result of `daemon.shutdown`."""

    stopping: bool


class SimilarNote(TypedDict):
    """A note with similar content."""

    app: NotRequired[str]
    content: str
    createdAt: int
    id: int
    origin: NotRequired[str]
    position: int
    scope: NotRequired[RecordScope]
    score: NotRequired[float]
    session: str
    similarity: float
    snippet: NotRequired[str]
    topic: str
    uid: str


class SimilarPatterns(TypedDict):
    """Two patterns with the same subject and similar vectors."""

    id: int
    other: int
    otherText: str
    similarity: float
    text: str


class Sizes(TypedDict):
    """Sizes on disk, in bytes."""

    artifactBytes: int
    backupBytes: int
    walBytes: int


class State(TypedDict):
    """A state: a page or dialog that is recognised if it is seen again."""

    definingComponents: List[str]
    description: NotRequired[str]
    firstSeen: int
    id: NotRequired[str]
    interrupt: NotRequired[Interrupt]
    kind: StateKind
    lastSeen: int
    name: NotRequired[str]
    origin: NotRequired[str]
    place: NotRequired[str]
    title: NotRequired[str]
    uid: str
    visibleTexts: List[str]
    visitCount: int


class StateRef(TypedDict):
    """Reference to a state."""

    id: str
    name: str


class Stated(TypedDict):
    """Number of next steps and blockers that the caller stated."""

    blockers: int
    nextSteps: int


class States(TypedDict):
    """Result of `visual.states`: states in the order in which they were learned."""

    app: str
    hosts: NotRequired[List[str]]
    site: NotRequired[str]
    states: List[State]


class Statistics(TypedDict):
    """Statistics of a session."""

    actionsPerformed: int
    artifacts: int
    assertionsFailed: int
    assertionsPassed: int
    errorsEncountered: int
    messages: int
    notes: int
    observations: int


class Stats(TypedDict):
    """Memory statistics."""

    artifacts: int
    byFailureCause: dict[str, int]
    byOp: dict[str, int]
    byStatus: dict[str, int]
    events: int
    medianDurationMs: NotRequired[int]
    notes: int
    observations: int
    recoveries: int
    session: NotRequired[str]
    sessions: int
    transitions: int


class StoreStatus(TypedDict):
    """State of the memory database."""

    advice: NotRequired[str]
    damage: NotRequired[str]
    pendingWrites: int
    recorded: NotRequired[bool]
    schema: int
    sizeBytes: int
    writable: bool


class Summary(TypedDict):
    """Rolling summary of a conversation, and the messages to send to the model."""

    compacted: NotRequired[SummaryInfo]
    context: dict[str, str]
    lines: List[str]
    messages: List[Message]
    savedPercent: float
    session: str
    tokens: int
    tokensOfAll: int


class SummaryInfo(TypedDict):
    """A summary that represents a range of messages."""

    after: int
    createdAt: int
    error: NotRequired[str]
    method: str
    model: NotRequired[str]
    pending: bool
    text: str
    tokens: int
    upto: int


class Surprise(TypedDict):
    """An outcome that was not expected."""

    expected: str
    kind: SurpriseKind
    name: NotRequired[str]
    probability: float
    text: str


class SurpriseNotice(TypedDict):
    """Notification that an action of a session had another outcome than expected."""

    at: int
    device: str
    eventId: str
    session: str
    surprise: Surprise


class TabInfo(TypedDict):
    """A tab of a browser."""

    current: bool
    tab: str
    title: str
    url: str
    usedBy: NotRequired[str]


class Tally(TypedDict):
    """Counts of the rows of a table, or of the entries of a file."""

    added: int
    cleaned: int
    found: int
    present: int
    skipped: int


# Description of an element that stays valid after the observation: never an alias, and never a position alone.
Target = TypedDict("Target", {"class": "NotRequired[str]", "label": "NotRequired[str]", "name": "NotRequired[str]", "ordinal": "NotRequired[int]", "path": "NotRequired[str]", "resId": "NotRequired[str]", "role": "Role", "title": "NotRequired[str]"})


class TargetSelector(TypedDict):
    """Parameters with which an action such as `act.tap` selects a target: `by` and `value`, or `x` and `y` for one of several equal elements."""

    by: NotRequired[By]
    value: NotRequired[str]
    x: NotRequired[float]
    y: NotRequired[float]


class Task(TypedDict):
    """A task."""

    blockedBy: NotRequired[List[int]]
    createdAt: int
    description: str
    finishedAt: NotRequired[int]
    id: int
    origin: NotRequired[str]
    priority: int
    progress: NotRequired[str]
    scope: NotRequired[RecordScope]
    session: str
    startedAt: NotRequired[int]
    status: TaskStatus
    summary: NotRequired[str]
    uid: str


class TaskCounts(TypedDict):
    """Number of tasks by status."""

    active: int
    failed: int
    passed: int
    pending: int
    skipped: int


class TaskInfo(TypedDict):
    """A background task."""

    lastError: NotRequired[str]
    name: str
    restarts: int
    state: TaskState


class TaskStarted(TypedDict):
    """Result of `session.task.start`."""

    blockedBy: NotRequired[List[int]]
    createdAt: int
    description: str
    finishedAt: NotRequired[int]
    id: int
    known: NotRequired[List[RecallEntry]]
    missing: NotRequired[List[str]]
    origin: NotRequired[str]
    priority: int
    progress: NotRequired[str]
    scope: NotRequired[RecordScope]
    session: str
    startedAt: NotRequired[int]
    status: TaskStatus
    summary: NotRequired[str]
    uid: str


class Tasks(TypedDict):
    """The tasks of a session: the active task, then the queue in order, then the finished tasks."""

    counts: TaskCounts
    tasks: List[Task]


class TestResult(TypedDict):
    """A test result."""

    app: NotRequired[str]
    bug: NotRequired[str]
    createdAt: int
    durationMs: NotRequired[int]
    evidence: NotRequired[str]
    id: int
    name: str
    origin: NotRequired[str]
    page: NotRequired[str]
    scope: NotRequired[RecordScope]
    session: str
    state: NotRequired[str]
    status: ResultStatus
    summary: NotRequired[str]
    task: NotRequired[str]
    uid: str


class TestedElement(TypedDict):
    """An element that was marked as tested."""

    app: str
    component: NotRequired[str]
    element: str
    failed: int
    lastAt: int
    page: str
    passed: int
    times: int


class TestedElements(TypedDict):
    """Result of `session.tested`."""

    elements: List[TestedElement]
    session: str
    total: int


class ToolCall(TypedDict):
    """A tool call."""

    arguments: NotRequired[Any]
    custom: NotRequired[Function]
    extra: NotRequired[dict[str, Any]]
    function: NotRequired[Function]
    id: NotRequired[str]
    name: NotRequired[str]


class TopReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    app: str | None
    device: str
    observationId: str
    recorded: NotRequired[bool]
    session: str
    topActivity: str | None
    traceId: str


class Toward(TypedDict):
    """The element that brings a task nearest."""

    alias: str
    goal: str
    probability: NotRequired[float]
    task: int


class Transition(TypedDict):
    """Experience with an action on a page."""

    action: Action
    failureCause: NotRequired[str]
    failureCount: int
    lastSuccessAt: NotRequired[int]
    matchScope: Scope
    nothingCount: int
    outcomes: List[Outcome]
    postActivity: NotRequired[str]
    postPage: NotRequired[PageRef]
    preActivity: str
    preApp: str
    preName: NotRequired[str]
    prePage: PageRef
    successCount: int
    text: str
    uid: str
    verifiedCount: int
    verifyOp: NotRequired[str]


class Transitions(TypedDict):
    """Result of `visual.transitions`."""

    app: str
    site: NotRequired[str]
    transitions: List[GraphTransition]


class Trial(TypedDict):
    """Result of checking whether a device works."""

    durationMs: int
    error: NotRequired[ErrorCode]
    found: str
    hint: NotRequired[str]
    topActivity: NotRequired[str]
    usable: bool


class UpkeepChange(TypedDict):
    """Changes of one kind that an upkeep run made."""

    change: str
    count: int
    examples: NotRequired[List[str]]
    rows: NotRequired[List[UpkeepRow]]


class UpkeepRow(TypedDict):
    """A row that an upkeep run changed."""

    into: NotRequired[str]
    uid: str


class UpkeepRun(TypedDict):
    """An upkeep run that changed something."""

    at: int
    changes: List[UpkeepChange]


class Usage(TypedDict):
    """Size of the context, with the limits that apply to it."""

    allocation: Allocation
    asked: NotRequired[int]
    canAfford: NotRequired[bool]
    limit: int
    maxMessages: int
    messages: int
    percentage: float
    recorded: int
    recordedTokens: int
    session: str
    threshold: float
    tokenizer: str
    used: int


class Vacuumed(TypedDict):
    """Result of `memory.vacuum`."""

    afterBytes: int
    beforeBytes: int


class VerifiedBackup(TypedDict):
    """A backup that was checked and can be restored."""

    artifactsChecked: int
    artifactsLost: int
    backup: Backup
    lost: NotRequired[List[str]]


class VerifyResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    actual: NotRequired[str]
    device: str
    eventId: str
    matched: bool
    matchedCount: NotRequired[int]
    nodes: NotRequired[List[Row]]
    observationId: NotRequired[str]
    page: NotRequired[PageRef]
    recorded: NotRequired[bool]
    session: str
    settled: bool
    traceId: str


class VisitedPage(TypedDict):
    """A page that a session visited, with the last observation of the page."""

    activity: NotRequired[str]
    app: str
    firstSeen: int
    key: str
    lastSeen: int
    name: NotRequired[str]
    observations: int
    snapshot: NotRequired[PageSnapshot]
    state: NotRequired[str]


class VisualExportResult(TypedDict):
    """Result of `visual.export`."""

    exported: List[ExportedScope]


class VisualImportResult(TypedDict):
    """Result of `visual.import`."""

    dryRun: bool
    imported: List[ImportedScope]


class WaitResultReply(TypedDict):
    """A result together with the device, session and trace id of the call, in one JSON object."""

    app: str | None
    device: str
    dialog: NotRequired[str]
    elements: NotRequired[List[Element]]
    hasWebView: bool
    hints: List[Hint]
    incidents: NotRequired[List[Incident]]
    matchedCount: NotRequired[int]
    mode: str
    nodeReliability: str
    nodes: NotRequired[List[Row]]
    observationId: str
    outline: NotRequired[str]
    page: PageRef
    reason: NotRequired[str]
    recorded: NotRequired[bool]
    reliable: bool
    session: str
    settled: bool
    since: NotRequired[str]
    tools: NotRequired[List[PublishedTool]]
    topActivity: str | None
    toward: NotRequired[Toward]
    traceId: str
    until: Until
    waitedMs: int


class Why(TypedDict):
    """Explanation of why an entry was found."""

    ageFactor: float
    bm25: NotRequired[float]
    builtinCosine: NotRequired[float]
    builtinRank: NotRequired[int]
    confidenceFactor: float
    cosine: NotRequired[float]
    share: NotRequired[float]
    textRank: NotRequired[int]
    vectorRank: NotRequired[int]
    words: NotRequired[List[str]]


class WindowRow(TypedDict):
    """A window on the screen; returned only with `full`."""

    app: str
    focused: bool
    id: int
    kind: str
    layer: int
    title: str


class WorkingMemory(TypedDict):
    """Working memory: information that an agent needs to continue its work."""

    activeElements: List[ActiveElement]
    context: dict[str, str]
    currentTask: NotRequired[Task]
    observationId: NotRequired[str]
    recentObservations: List[RecentObservation]
    session: str
    stale: bool
    usage: Usage


class BackupMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def create(self, *, request_key: str | None = None) -> Backup:
        """Copies the memory and its artifacts while the daemon is running, and checks the copy."""
        return self._call("backup.create", {"requestKey": request_key}, key=True)

    def list(self) -> Backups:
        """Lists the backups, newest first."""
        return self._call("backup.list", {})

    def verify(self, *, name: str | None = None) -> VerifiedBackup:
        """Checks that a backup can be restored (database, key, schema), and lists artifacts without an intact copy."""
        return self._call("backup.verify", {"name": name})

    def delete(self, *, name: str, request_key: str | None = None) -> DeletedBackup:
        """Deletes a backup."""
        return self._call("backup.delete", {"name": name, "requestKey": request_key}, key=True)


class JobMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def list(self) -> Jobs:
        """Lists the background jobs with the results of their last runs."""
        return self._call("job.list", {})

    def run(self, *, name: str, request_key: str | None = None) -> Job:
        """Runs a job now and waits until the run has finished."""
        return self._call("job.run", {"name": name, "requestKey": request_key}, key=True)


class ModelMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def add(self, *, directory: str, request_key: str | None = None) -> ModelAdded:
        """Checks a sentence model in a directory, and uses it for embeddings from now on."""
        return self._call("model.add", {"directory": directory, "requestKey": request_key}, key=True)

    def remove(self, *, request_key: str | None = None) -> ModelRemoved:
        """Switches back to the built-in model, and deletes the vectors of all other models."""
        return self._call("model.remove", {"requestKey": request_key}, key=True)


class RecallMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def store(self, *, text: str, app: str | None = None, confidence: float | None = None, expires_at: int | None = None, related: List[str] | None = None, scope: PatternScope | None = None, session: str | None = None, site: str | None = None, source: str | None = None, tags: List[str] | None = None, title: str | None = None, type: StoredType | None = None, request_key: str | None = None) -> RecallStored:
        """Stores a fact, a preference or a procedure."""
        return self._call("recall.store", {"text": text, "app": app, "confidence": confidence, "expiresAt": expires_at, "related": related, "scope": scope, "session": session, "site": site, "source": source, "tags": tags, "title": title, "type": type, "requestKey": request_key}, session=True, key=True)

    def search(self, *, query: str, app: str | None = None, archived: bool | None = None, expires_until: int | None = None, explain: bool | None = None, limit: int | None = None, mode: SearchMode | None = None, of_session: str | None = None, session: str | None = None, since: int | None = None, site: str | None = None, tags: List[str] | None = None, types: List[EntryType] | None = None, until: int | None = None) -> RecallFound:
        """Searches the memory by words and by meaning."""
        return self._call("recall.search", {"query": query, "app": app, "archived": archived, "expiresUntil": expires_until, "explain": explain, "limit": limit, "mode": mode, "ofSession": of_session, "session": session, "since": since, "site": site, "tags": tags, "types": types, "until": until}, session=True)

    def get(self, *, uid: str, session: str | None = None) -> RecallEntry:
        """Returns an entry with its complete text."""
        return self._call("recall.get", {"uid": uid, "session": session}, session=True)

    def used(self, *, uid: str, held: bool | None = None, session: str | None = None, request_key: str | None = None) -> RecallEntry:
        """Records that an entry was used and whether it held true, and updates the entry's confidence."""
        return self._call("recall.used", {"uid": uid, "held": held, "session": session, "requestKey": request_key}, session=True, key=True)

    def delete(self, *, uid: str, session: str | None = None, request_key: str | None = None) -> RecallDeleted:
        """Deletes an entry that `recall.store` stored."""
        return self._call("recall.delete", {"uid": uid, "session": session, "requestKey": request_key}, session=True, key=True)

    def context(self, *, app: str | None = None, budget: int | None = None, session: str | None = None, task: str | None = None) -> RecallContext:
        """Assembles the knowledge about a task from the session and from the memory, within a token budget."""
        return self._call("recall.context", {"app": app, "budget": budget, "session": session, "task": task}, session=True)

    def status(self) -> RecallStatus:
        """Returns the number of recall entries by type, and the state of the embedding models and of Qdrant."""
        return self._call("recall.status", {})

    def upkeep(self, *, dry_run: bool | None = None, request_key: str | None = None) -> RecallUpkeep:
        """Merges, expires and archives recall entries, and lists patterns that may have the same meaning."""
        return self._call("recall.upkeep", {"dryRun": dry_run, "requestKey": request_key}, key=True)

    def evaluate(self, *, directory: str) -> RecallEvaluated:
        """Measures how well each search method finds the expected entries."""
        return self._call("recall.evaluate", {"directory": directory})


class PageModelMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def save(self, *, elements: List[PageElement], page: str, page_type: str, app: str | None = None, request_key: str | None = None) -> PageModel:
        """Saves a model of a page's elements; saving the same page again updates the stability of the model."""
        return self._call("pageModel.save", {"elements": elements, "page": page, "pageType": page_type, "app": app, "requestKey": request_key}, key=True)

    def find(self, *, app: str | None = None, limit: int | None = None, page: str | None = None) -> PageModels:
        """Finds models of a page and of similar pages."""
        return self._call("pageModel.find", {"app": app, "limit": limit, "page": page})

    def delete(self, *, id: int, request_key: str | None = None) -> DeleteResult:
        """Deletes a page model."""
        return self._call("pageModel.delete", {"id": id, "requestKey": request_key}, key=True)


class PatternMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def save(self, *, kind: PatternKind, text: str, app: str | None = None, confidence: float | None = None, data: dict[str, Any] | None = None, page: str | None = None, scope: PatternScope | None = None, session: str | None = None, source: str | None = None, request_key: str | None = None) -> Pattern:
        """Saves a learned pattern; saving the pattern again raises its confidence."""
        return self._call("pattern.save", {"kind": kind, "text": text, "app": app, "confidence": confidence, "data": data, "page": page, "scope": scope, "session": session, "source": source, "requestKey": request_key}, session=True, key=True)

    def find(self, *, app: str | None = None, kind: PatternKind | None = None, limit: int | None = None, min_confidence: float | None = None, page: str | None = None, session: str | None = None, text: str | None = None) -> Patterns:
        """Finds patterns by page, app, kind, session or text."""
        return self._call("pattern.find", {"app": app, "kind": kind, "limit": limit, "minConfidence": min_confidence, "page": page, "session": session, "text": text})

    def list(self, *, app: str | None = None, limit: int | None = None, scope: PatternScope | None = None, session: str | None = None) -> Patterns:
        """Lists patterns of all scopes, newest first."""
        return self._call("pattern.list", {"app": app, "limit": limit, "scope": scope, "session": session})

    def promote(self, *, id: int, scope: PatternScope, request_key: str | None = None) -> Pattern:
        """Widens or narrows the scope of a pattern."""
        return self._call("pattern.promote", {"id": id, "scope": scope, "requestKey": request_key}, key=True)

    def used(self, *, id: int, held: bool | None = None, request_key: str | None = None) -> Pattern:
        """Records that a pattern was used, and whether it held true."""
        return self._call("pattern.used", {"id": id, "held": held, "requestKey": request_key}, key=True)

    def merge(self, *, id: int, into: int, request_key: str | None = None) -> Pattern:
        """Merges a pattern into another pattern with the same meaning and the same subject."""
        return self._call("pattern.merge", {"id": id, "into": into, "requestKey": request_key}, key=True)

    def delete(self, *, id: int, request_key: str | None = None) -> DeleteResult:
        """Deletes a pattern."""
        return self._call("pattern.delete", {"id": id, "requestKey": request_key}, key=True)


class ConversationMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def append(self, *, messages: List[Message], context: dict[str, str] | None = None, conversation: str | None = None, session: str | None = None, request_key: str | None = None) -> AppendResult:
        """Records messages, counts their tokens, extracts context keys and facts, and compacts an overfull context."""
        return self._call("conversation.append", {"messages": messages, "context": context, "conversation": conversation, "session": session, "requestKey": request_key}, session=True, key=True)

    def list(self, *, conversation: str | None = None, cursor: int | None = None, limit: int | None = None, session: str | None = None) -> Messages:
        """Lists recorded messages, newest first, including messages that are no longer in the context."""
        return self._call("conversation.list", {"conversation": conversation, "cursor": cursor, "limit": limit, "session": session}, session=True)

    def compact(self, *, conversation: str | None = None, keep: int | None = None, learn: PatternScope | None = None, session: str | None = None, request_key: str | None = None) -> CompactResult:
        """Replaces older messages in the context with a summary; the messages remain recorded."""
        return self._call("conversation.compact", {"conversation": conversation, "keep": keep, "learn": learn, "session": session, "requestKey": request_key}, session=True, key=True)

    def summary(self, *, conversation: str | None = None, session: str | None = None) -> Summary:
        """Returns the rolling summary with the last messages and the context keys."""
        return self._call("conversation.summary", {"conversation": conversation, "session": session}, session=True)

    def search(self, *, query: str, conversation: str | None = None, everywhere: bool | None = None, limit: int | None = None, role: MessageRole | None = None, session: str | None = None, since: int | None = None, until: int | None = None) -> FoundMessages:
        """Searches recorded messages for words."""
        return self._call("conversation.search", {"query": query, "conversation": conversation, "everywhere": everywhere, "limit": limit, "role": role, "session": session, "since": since, "until": until}, session=True)

    def delete(self, *, position: int, conversation: str | None = None, session: str | None = None, request_key: str | None = None) -> DeleteMessageResult:
        """Deletes a recorded message, such as one that contains a secret, along with everything derived from it."""
        return self._call("conversation.delete", {"position": position, "conversation": conversation, "session": session, "requestKey": request_key}, session=True, key=True)

    def clear(self, *, conversation: str | None = None, forget_context: bool | None = None, session: str | None = None, request_key: str | None = None) -> ClearResult:
        """Clears the context; the messages remain recorded."""
        return self._call("conversation.clear", {"conversation": conversation, "forgetContext": forget_context, "session": session, "requestKey": request_key}, session=True, key=True)

    def usage(self, *, conversation: str | None = None, session: str | None = None, text: str | None = None, tokens: int | None = None, tools: List[Any] | None = None) -> Usage:
        """Reports how full the context is, and whether a given text or number of tokens fits."""
        return self._call("conversation.usage", {"conversation": conversation, "session": session, "text": text, "tokens": tokens, "tools": tools}, session=True)

    def context(self, *, budget: int | None = None, conversation: str | None = None, format: MessageFormat | None = None, session: str | None = None, tools: List[Any] | None = None) -> ModelContext:
        """Assembles the messages for the model's next turn within a token budget."""
        return self._call("conversation.context", {"budget": budget, "conversation": conversation, "format": format, "session": session, "tools": tools}, session=True)

    def working(self, *, conversation: str | None = None, session: str | None = None) -> WorkingMemory:
        """Returns the working memory of an agent: current task, recent observations, elements with aliases, context keys."""
        return self._call("conversation.working", {"conversation": conversation, "session": session}, session=True)


class SessionResultMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def add(self, *, name: str, status: ResultStatus, app: str | None = None, bug: int | None = None, duration_ms: int | None = None, evidence: str | None = None, page: str | None = None, scope: RecordScope | None = None, session: str | None = None, summary: str | None = None, request_key: str | None = None) -> TestResult:
        """Records a test result."""
        return self._call("session.result.add", {"name": name, "status": status, "app": app, "bug": bug, "durationMs": duration_ms, "evidence": evidence, "page": page, "scope": scope, "session": session, "summary": summary, "requestKey": request_key}, session=True, key=True)

    def list(self, *, cursor: int | None = None, limit: int | None = None, page: str | None = None, session: str | None = None, since: int | None = None, status: ResultStatus | None = None) -> Results:
        """Lists test results, newest first, with counts by outcome."""
        return self._call("session.result.list", {"cursor": cursor, "limit": limit, "page": page, "session": session, "since": since, "status": status})


class SessionBugMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def add(self, *, title: str, actual: str | None = None, app: str | None = None, description: str | None = None, expected: str | None = None, from_log: bool | None = None, page: str | None = None, scope: RecordScope | None = None, screenshot: str | None = None, session: str | None = None, severity: Severity | None = None, steps: List[str] | None = None, request_key: str | None = None) -> BugAddResult:
        """Records a bug."""
        return self._call("session.bug.add", {"title": title, "actual": actual, "app": app, "description": description, "expected": expected, "fromLog": from_log, "page": page, "scope": scope, "screenshot": screenshot, "session": session, "severity": severity, "steps": steps, "requestKey": request_key}, session=True, key=True)

    def list(self, *, app: str | None = None, cursor: int | None = None, limit: int | None = None, page: str | None = None, session: str | None = None, severity: Severity | None = None, status: BugStatus | None = None) -> Bugs:
        """Lists bugs, newest first, with counts by severity and status."""
        return self._call("session.bug.list", {"app": app, "cursor": cursor, "limit": limit, "page": page, "session": session, "severity": severity, "status": status})

    def show(self, *, id: int, session: str | None = None) -> Bug:
        """Returns a bug."""
        return self._call("session.bug.show", {"id": id, "session": session}, session=True)

    def resolve(self, *, id: int, reason: str, session: str | None = None, request_key: str | None = None) -> Bug:
        """Marks a bug as resolved, with a reason."""
        return self._call("session.bug.resolve", {"id": id, "reason": reason, "session": session, "requestKey": request_key}, session=True, key=True)

    def update(self, *, id: int, actual: str | None = None, app: str | None = None, description: str | None = None, expected: str | None = None, page: str | None = None, scope: RecordScope | None = None, screenshot: str | None = None, session: str | None = None, severity: Severity | None = None, steps: List[str] | None = None, title: str | None = None, request_key: str | None = None) -> Bug:
        """Changes the given fields of a bug."""
        return self._call("session.bug.update", {"id": id, "actual": actual, "app": app, "description": description, "expected": expected, "page": page, "scope": scope, "screenshot": screenshot, "session": session, "severity": severity, "steps": steps, "title": title, "requestKey": request_key}, session=True, key=True)

    def reopen(self, *, id: int, session: str | None = None, request_key: str | None = None) -> Bug:
        """Reopens a resolved bug."""
        return self._call("session.bug.reopen", {"id": id, "session": session, "requestKey": request_key}, session=True, key=True)


class SessionTaskMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def add(self, *, description: str, blocked_by: List[int] | None = None, priority: int | None = None, scope: RecordScope | None = None, session: str | None = None, request_key: str | None = None) -> Task:
        """Adds a task to the queue."""
        return self._call("session.task.add", {"description": description, "blockedBy": blocked_by, "priority": priority, "scope": scope, "session": session, "requestKey": request_key}, session=True, key=True)

    def start(self, *, id: int | None = None, session: str | None = None, switch: bool | None = None, request_key: str | None = None) -> TaskStarted:
        """Starts a task, by default the first task in the queue."""
        return self._call("session.task.start", {"id": id, "session": session, "switch": switch, "requestKey": request_key}, session=True, key=True)

    def update(self, *, description: str | None = None, id: int | None = None, priority: int | None = None, progress: str | None = None, scope: RecordScope | None = None, session: str | None = None, request_key: str | None = None) -> Task:
        """Updates the progress note, description, priority or scope of a task."""
        return self._call("session.task.update", {"description": description, "id": id, "priority": priority, "progress": progress, "scope": scope, "session": session, "requestKey": request_key}, session=True, key=True)

    def finish(self, *, id: int | None = None, session: str | None = None, status: FinishStatus | None = None, summary: str | None = None, request_key: str | None = None) -> Task:
        """Finishes a task as passed, failed or skipped, with a summary."""
        return self._call("session.task.finish", {"id": id, "session": session, "status": status, "summary": summary, "requestKey": request_key}, session=True, key=True)

    def list(self, *, limit: int | None = None, session: str | None = None, status: TaskStatus | None = None) -> Tasks:
        """Lists the tasks of a session."""
        return self._call("session.task.list", {"limit": limit, "session": session, "status": status}, session=True)


class SessionMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call
        self.task = SessionTaskMethods(call)
        self.bug = SessionBugMethods(call)
        self.result = SessionResultMethods(call)

    def start(self, *, app: str | None = None, auto_progress: bool | None = None, context: dict[str, str] | None = None, directory: str | None = None, goal: str | None = None, max_tokens: int | None = None, model: str | None = None, progress_dir: str | None = None, scope: RecordScope | None = None, session: str | None = None, tasks: List[str] | None = None, tracked_keys: List[str] | None = None, request_key: str | None = None) -> SessionDetails:
        """Starts a session with a goal and tasks; earlier records under the session's name become part of it."""
        return self._call("session.start", {"app": app, "autoProgress": auto_progress, "context": context, "directory": directory, "goal": goal, "maxTokens": max_tokens, "model": model, "progressDir": progress_dir, "scope": scope, "session": session, "tasks": tasks, "trackedKeys": tracked_keys, "requestKey": request_key}, session=True, key=True)

    def list(self, *, app: str | None = None, cursor: int | None = None, limit: int | None = None, status: SessionStatus | None = None) -> Sessions:
        """Lists sessions, newest first."""
        return self._call("session.list", {"app": app, "cursor": cursor, "limit": limit, "status": status})

    def show(self, *, session: str | None = None) -> SessionDetails:
        """Returns a session with its summary, statistics, tasks, bugs and pages."""
        return self._call("session.show", {"session": session}, session=True)

    def end(self, *, file: str | None = None, session: str | None = None, request_key: str | None = None) -> EndResult:
        """Ends a session: compacts its conversation and writes the report, the final summary and the progress files."""
        return self._call("session.end", {"file": file, "session": session, "requestKey": request_key}, session=True, key=True)

    def report(self, *, file: str | None = None, format: ReportFormat | None = None, session: str | None = None, request_key: str | None = None) -> ReportResult:
        """Writes a report on a session, with its screenshots."""
        return self._call("session.report", {"file": file, "format": format, "session": session, "requestKey": request_key}, session=True, key=True)

    def update(self, *, app: str | None = None, goal: str | None = None, name: str | None = None, scope: RecordScope | None = None, session: str | None = None, request_key: str | None = None) -> SessionInfo:
        """Renames a session, or changes its goal, app or scope."""
        return self._call("session.update", {"app": app, "goal": goal, "name": name, "scope": scope, "session": session, "requestKey": request_key}, session=True, key=True)

    def delete(self, *, findings: bool | None = None, session: str | None = None, request_key: str | None = None) -> Deleted:
        """Deletes a session with its messages and tasks; findings and notes of the app are kept unless `findings` is set."""
        return self._call("session.delete", {"findings": findings, "session": session, "requestKey": request_key}, session=True, key=True)

    def import_(self, *, file: str, merge: bool | None = None, name: str | None = None, request_key: str | None = None) -> Imported:
        """Imports a session from an export in JSON lines."""
        return self._call("session.import", {"file": file, "merge": merge, "name": name, "requestKey": request_key}, key=True)

    def export(self, *, file: str | None = None, format: ExportFormat | None = None, session: str | None = None) -> ExportResult:
        """Exports the complete record of a session as one document, or as JSON lines that can be imported."""
        return self._call("session.export", {"file": file, "format": format, "session": session}, session=True)

    def coverage(self, *, app: str | None = None, session: str | None = None) -> Coverage:
        """Reports which of the known pages and elements a session has visited and tested."""
        return self._call("session.coverage", {"app": app, "session": session}, session=True)

    def progress(self, *, auto: bool | None = None, blockers: List[str] | None = None, dir: str | None = None, directory: str | None = None, next_steps: List[str] | None = None, session: str | None = None, request_key: str | None = None) -> ProgressResult:
        """Writes the progress files of a session, after updating its next steps, blockers and settings if they are given."""
        return self._call("session.progress", {"auto": auto, "blockers": blockers, "dir": dir, "directory": directory, "nextSteps": next_steps, "session": session, "requestKey": request_key}, session=True, key=True)

    def resume(self, *, file: str | None = None, session: str | None = None, request_key: str | None = None) -> ResumeResult:
        """Resumes a session from memory or from a progress file, and returns a prompt for continuing it."""
        return self._call("session.resume", {"file": file, "session": session, "requestKey": request_key}, session=True, key=True)

    def tested(self, *, elements: List[str], app: str | None = None, new: bool | None = None, page: str | None = None, passed: bool | None = None, session: str | None = None, request_key: str | None = None) -> TestedElements:
        """Marks elements as tested, optionally with the outcome of an assertion."""
        return self._call("session.tested", {"elements": elements, "app": app, "new": new, "page": page, "passed": passed, "session": session, "requestKey": request_key}, session=True, key=True)


class VisualMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def learn(self, *, app: str | None = None, detect: bool | None = None, detections: List[Detection] | None = None, device: str | None = None, forget_threshold: int | None = None, page: str | None = None, picture: str | None = None, pictures: bool | None = None, session: str | None = None, site: str | None = None, request_key: str | None = None) -> LearnResult:
        """Learns the components on the screen, and the state they make up."""
        return self._call("visual.learn", {"app": app, "detect": detect, "detections": detections, "device": device, "forgetThreshold": forget_threshold, "page": page, "picture": picture, "pictures": pictures, "session": session, "site": site, "requestKey": request_key}, device=True, session=True, key=True)

    def components(self, *, app: str | None = None, cursor: int | None = None, device: str | None = None, limit: int | None = None, query: str | None = None, session: str | None = None, site: str | None = None, state: str | None = None, unlabelled: bool | None = None) -> Components:
        """Lists the components of an app or site."""
        return self._call("visual.components", {"app": app, "cursor": cursor, "device": device, "limit": limit, "query": query, "session": session, "site": site, "state": state, "unlabelled": unlabelled}, device=True, session=True)

    def rename(self, *, new: str, old: str, app: str | None = None, device: str | None = None, session: str | None = None, site: str | None = None, request_key: str | None = None) -> RenameResult:
        """Renames a component or a state everywhere it is referred to."""
        return self._call("visual.rename", {"new": new, "old": old, "app": app, "device": device, "session": session, "site": site, "requestKey": request_key}, device=True, session=True, key=True)

    def cleanup(self, *, app: str | None = None, device: str | None = None, dry_run: bool | None = None, session: str | None = None, site: str | None = None, request_key: str | None = None) -> CleanupResult:
        """Deletes components whose text is dynamic, such as times, counters or messages."""
        return self._call("visual.cleanup", {"app": app, "device": device, "dryRun": dry_run, "session": session, "site": site, "requestKey": request_key}, device=True, session=True, key=True)

    def states(self, *, all: bool | None = None, app: str | None = None, device: str | None = None, session: str | None = None, site: str | None = None) -> States:
        """Lists the states of an app or site."""
        return self._call("visual.states", {"all": all, "app": app, "device": device, "session": session, "site": site}, device=True, session=True)

    def delete(self, *, app: str | None = None, component: str | None = None, device: str | None = None, purge: bool | None = None, session: str | None = None, site: str | None = None, state: str | None = None, request_key: str | None = None) -> Change:
        """Deletes a component, or a state with everything that depends on it."""
        return self._call("visual.delete", {"app": app, "component": component, "device": device, "purge": purge, "session": session, "site": site, "state": state, "requestKey": request_key}, device=True, session=True, key=True)

    def history(self, *, app: str | None = None, cursor: int | None = None, device: str | None = None, limit: int | None = None, session: str | None = None, site: str | None = None) -> Changes:
        """Lists the items that were forgotten, merged, renamed or deleted, with the reasons."""
        return self._call("visual.history", {"app": app, "cursor": cursor, "device": device, "limit": limit, "session": session, "site": site}, device=True, session=True)

    def undo(self, *, app: str | None = None, device: str | None = None, id: int | None = None, session: str | None = None, site: str | None = None, request_key: str | None = None) -> Change:
        """Undoes a change to the visual memory."""
        return self._call("visual.undo", {"app": app, "device": device, "id": id, "session": session, "site": site, "requestKey": request_key}, device=True, session=True, key=True)

    def transitions(self, *, app: str | None = None, device: str | None = None, from_: str | None = None, session: str | None = None, site: str | None = None) -> Transitions:
        """Lists the known transitions between the states of an app or site."""
        return self._call("visual.transitions", {"app": app, "device": device, "from": from_, "session": session, "site": site}, device=True, session=True)

    def path(self, *, to: str, alternatives: int | None = None, app: str | None = None, device: str | None = None, from_: str | None = None, session: str | None = None, shortest: bool | None = None, site: str | None = None) -> Path:
        """Finds the most reliable route to a state, or to a state that shows a component."""
        return self._call("visual.path", {"to": to, "alternatives": alternatives, "app": app, "device": device, "from": from_, "session": session, "shortest": shortest, "site": site}, device=True, session=True)

    def graph(self, *, app: str | None = None, device: str | None = None, format: GraphFormat | None = None, save_file: str | None = None, session: str | None = None, site: str | None = None) -> RenderedGraph:
        """Renders the state graph of an app or site."""
        return self._call("visual.graph", {"app": app, "device": device, "format": format, "saveFile": save_file, "session": session, "site": site}, device=True, session=True)

    def import_(self, *, dir: str, app: str | None = None, dry_run: bool | None = None, session: str | None = None, request_key: str | None = None) -> VisualImportResult:
        """Imports files from the original visual-memory tool, in any of its three formats, including pictures and sites."""
        return self._call("visual.import", {"dir": dir, "app": app, "dryRun": dry_run, "session": session, "requestKey": request_key}, session=True, key=True)

    def export(self, *, dir: str, app: str | None = None, site: str | None = None, request_key: str | None = None) -> VisualExportResult:
        """Exports the visual memory as files that the original visual-memory tool can read."""
        return self._call("visual.export", {"dir": dir, "app": app, "site": site, "requestKey": request_key}, key=True)

    def match(self, *, app: str | None = None, components: List[str] | None = None, device: str | None = None, picture: str | None = None, session: str | None = None, site: str | None = None, state: str | None = None, request_key: str | None = None) -> MatchResult:
        """Finds the components of an app or site on the screen by their pictures."""
        return self._call("visual.match", {"app": app, "components": components, "device": device, "picture": picture, "session": session, "site": site, "state": state, "requestKey": request_key}, device=True, session=True, key=True)


class ArtifactMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def list(self, *, cursor: int | None = None, kind: str | None = None, limit: int | None = None, session: str | None = None) -> Artifacts:
        """Lists artifacts, newest first."""
        return self._call("artifact.list", {"cursor": cursor, "kind": kind, "limit": limit, "session": session})

    def get(self, *, id: int, content: bool | None = None) -> ArtifactDetails:
        """Returns an artifact, optionally with its content."""
        return self._call("artifact.get", {"id": id, "content": content})

    def delete(self, *, id: int, request_key: str | None = None) -> DeletedArtifact:
        """Deletes an artifact and its file."""
        return self._call("artifact.delete", {"id": id, "requestKey": request_key}, key=True)


class MemoryMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def save(self, *, content: str, topic: str, app: str | None = None, scope: RecordScope | None = None, session: str | None = None, request_key: str | None = None) -> SavedNote:
        """Saves a note at the end of the chain for its app and topic, and returns similar notes."""
        return self._call("memory.save", {"content": content, "topic": topic, "app": app, "scope": scope, "session": session, "requestKey": request_key}, session=True, key=True)

    def search(self, *, app: str | None = None, cursor: int | None = None, limit: int | None = None, query: str | None = None, session: str | None = None, topic: str | None = None) -> Notes:
        """Searches notes, best match first; without a query, lists the newest ones."""
        return self._call("memory.search", {"app": app, "cursor": cursor, "limit": limit, "query": query, "session": session, "topic": topic}, session=True)

    def delete(self, *, id: int | None = None, uid: str | None = None, request_key: str | None = None) -> DeletedNote:
        """Deletes a note; the other notes in its chain keep their positions."""
        return self._call("memory.delete", {"id": id, "uid": uid, "requestKey": request_key}, key=True)

    def experience(self, *, activity: str | None = None, app: str | None = None, device: str | None = None, failure_cause: str | None = None, limit: int | None = None, page_fp: str | None = None, session: str | None = None) -> Experience:
        """Returns the known outcomes of actions and recoveries: first for a page, then for its activity, then for its app."""
        return self._call("memory.experience", {"activity": activity, "app": app, "device": device, "failureCause": failure_cause, "limit": limit, "pageFp": page_fp, "session": session}, device=True, session=True)

    def context(self, *, device: str | None = None, session: str | None = None) -> SessionContext:
        """Returns the last observation of a session."""
        return self._call("memory.context", {"device": device, "session": session}, device=True, session=True)

    def log(self, *, app: str | None = None, cursor: int | None = None, device: str | None = None, limit: int | None = None, session: str | None = None, status: EventStatus | None = None) -> Log:
        """Lists events, newest first."""
        return self._call("memory.log", {"app": app, "cursor": cursor, "device": device, "limit": limit, "session": session, "status": status})

    def stats(self, *, session: str | None = None) -> Stats:
        """Returns statistics about the memory."""
        return self._call("memory.stats", {"session": session})

    def import_af(self, *, config_file: str | None = None, database_file: str | None = None, dry_run: bool | None = None, request_key: str | None = None) -> ImportReport:
        """Imports settings, notes, transitions, recoveries and artifacts from `af` 0.5; repeating it adds no duplicates."""
        return self._call("memory.importAf", {"configFile": config_file, "databaseFile": database_file, "dryRun": dry_run, "requestKey": request_key}, key=True)

    def predict(self, *, device: str | None = None, limit: int | None = None, session: str | None = None, verb: Verb | None = None) -> PredictionsReply:
        """Predicts where the actions on the last observed page lead, also those that were never tried there."""
        return self._call("memory.predict", {"device": device, "limit": limit, "session": session, "verb": verb}, device=True, session=True)

    def prune(self, *, older: str, dry_run: bool | None = None, request_key: str | None = None) -> Pruned:
        """Deletes old events and observations; learned experience and the totals of sessions are kept."""
        return self._call("memory.prune", {"older": older, "dryRun": dry_run, "requestKey": request_key}, key=True)

    def vacuum(self, *, request_key: str | None = None) -> Vacuumed:
        """Rewrites the database to reclaim space from deleted data; other writes wait until the rewrite is done."""
        return self._call("memory.vacuum", {"requestKey": request_key}, key=True)

    def export(self, *, file: str) -> ExportedMemory:
        """Writes the whole memory, except artifacts and settings, to a file of JSON lines."""
        return self._call("memory.export", {"file": file})

    def import_(self, *, file: str, dry_run: bool | None = None, merge: bool | None = None, request_key: str | None = None) -> ImportedMemory:
        """Imports the export of another memory; importing it again changes nothing. Import only files that you trust."""
        return self._call("memory.import", {"file": file, "dryRun": dry_run, "merge": merge, "requestKey": request_key}, key=True)


class RecoverMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def back(self, *, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, times: int | None = None) -> RecoverResultReply:
        """Presses Back to recover from a failure."""
        return self._call("recover.back", {"device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then, "times": times}, device=True, session=True, key=True)

    def home(self, *, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> RecoverResultReply:
        """Presses Home to recover from a failure."""
        return self._call("recover.home", {"device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def relaunch(self, *, package: str, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> RecoverResultReply:
        """Presses Home and launches the app to recover from a failure."""
        return self._call("recover.relaunch", {"package": package, "device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def auto(self, *, allow_risky: bool | None = None, app: str | None = None, device: str | None = None, max_steps: int | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, timeout_ms: int | None = None) -> RecoverAutoResultReply:
        """Recovers from the last failure by what fixed it here before, else by general means, and checks each action."""
        return self._call("recover.auto", {"allowRisky": allow_risky, "app": app, "device": device, "maxSteps": max_steps, "requestKey": request_key, "session": session, "strict": strict, "then": then, "timeoutMs": timeout_ms}, device=True, session=True, key=True)


class VerifyMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def text_contains(self, *, text: str, case_sensitive: bool | None = None, device: str | None = None, session: str | None = None) -> VerifyResultReply:
        """Verifies that visible text or a description contains the given text; ids, classes and flags are not searched."""
        return self._call("verify.textContains", {"text": text, "caseSensitive": case_sensitive, "device": device, "session": session}, device=True, session=True)

    def element(self, *, text: str, device: str | None = None, exact_match: bool | None = None, session: str | None = None, shows: str | None = None, state: ElementState | None = None) -> VerifyResultReply:
        """Verifies that the given text is on the page, or that an element has the given state."""
        return self._call("verify.element", {"text": text, "device": device, "exactMatch": exact_match, "session": session, "shows": shows, "state": state}, device=True, session=True)

    def top_activity(self, *, expected: str, device: str | None = None, mode: MatchMode | None = None, session: str | None = None) -> VerifyResultReply:
        """Verifies that the activity in the foreground is the expected one."""
        return self._call("verify.topActivity", {"expected": expected, "device": device, "mode": mode, "session": session}, device=True, session=True)

    def node_exists(self, *, by: By, value: str, device: str | None = None, exact_match: bool | None = None, session: str | None = None) -> VerifyResultReply:
        """Verifies that a visible node matches the selector."""
        return self._call("verify.nodeExists", {"by": by, "value": value, "device": device, "exactMatch": exact_match, "session": session}, device=True, session=True)


class ActMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def tap(self, *, by: By | None = None, device: str | None = None, duration_ms: int | None = None, exact_match: bool | None = None, observation_id: str | None = None, partial: bool | None = None, recover: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, value: str | None = None, x: float | None = None, y: float | None = None) -> ActResultReply:
        """Taps a target or a point."""
        return self._call("act.tap", {"by": by, "device": device, "durationMs": duration_ms, "exactMatch": exact_match, "observationId": observation_id, "partial": partial, "recover": recover, "requestKey": request_key, "session": session, "strict": strict, "then": then, "value": value, "x": x, "y": y}, device=True, session=True, key=True)

    def long_press(self, *, by: By | None = None, device: str | None = None, duration_ms: int | None = None, exact_match: bool | None = None, observation_id: str | None = None, partial: bool | None = None, recover: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, value: str | None = None, x: float | None = None, y: float | None = None) -> ActResultReply:
        """Long-presses a target or a point."""
        return self._call("act.longPress", {"by": by, "device": device, "durationMs": duration_ms, "exactMatch": exact_match, "observationId": observation_id, "partial": partial, "recover": recover, "requestKey": request_key, "session": session, "strict": strict, "then": then, "value": value, "x": x, "y": y}, device=True, session=True, key=True)

    def double_tap(self, *, by: By | None = None, device: str | None = None, duration_ms: int | None = None, exact_match: bool | None = None, observation_id: str | None = None, partial: bool | None = None, recover: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, value: str | None = None, x: float | None = None, y: float | None = None) -> ActResultReply:
        """Taps a target or a point twice in quick succession."""
        return self._call("act.doubleTap", {"by": by, "device": device, "durationMs": duration_ms, "exactMatch": exact_match, "observationId": observation_id, "partial": partial, "recover": recover, "requestKey": request_key, "session": session, "strict": strict, "then": then, "value": value, "x": x, "y": y}, device=True, session=True, key=True)

    def hover(self, *, by: By | None = None, device: str | None = None, duration_ms: int | None = None, exact_match: bool | None = None, observation_id: str | None = None, partial: bool | None = None, recover: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, value: str | None = None, x: float | None = None, y: float | None = None) -> ActResultReply:
        """Moves the mouse onto an element or a point, as to open a menu; only browsers have a mouse."""
        return self._call("act.hover", {"by": by, "device": device, "durationMs": duration_ms, "exactMatch": exact_match, "observationId": observation_id, "partial": partial, "recover": recover, "requestKey": request_key, "session": session, "strict": strict, "then": then, "value": value, "x": x, "y": y}, device=True, session=True, key=True)

    def swipe(self, *, x1: float, x2: float, y1: float, y2: float, device: str | None = None, duration_ms: int | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Swipes from one point to another."""
        return self._call("act.swipe", {"x1": x1, "x2": x2, "y1": y1, "y2": y2, "device": device, "durationMs": duration_ms, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def drag(self, *, device: str | None = None, duration_ms: int | None = None, partial: bool | None = None, recover: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, to: str | None = None, to_x: float | None = None, to_y: float | None = None, value: str | None = None, x: float | None = None, y: float | None = None) -> ActResultReply:
        """Drags from an element or a point to another element or point."""
        return self._call("act.drag", {"device": device, "durationMs": duration_ms, "partial": partial, "recover": recover, "requestKey": request_key, "session": session, "strict": strict, "then": then, "to": to, "toX": to_x, "toY": to_y, "value": value, "x": x, "y": y}, device=True, session=True, key=True)

    def scroll(self, *, direction: Direction, amount: Amount | None = None, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Scrolls the screen in a direction."""
        return self._call("act.scroll", {"direction": direction, "amount": amount, "device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def scroll_to(self, *, text: str, by: By | None = None, device: str | None = None, exact_match: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, timeout_ms: int | None = None) -> ScrollToResultReply:
        """Scrolls down to the end, then up to the top, until a matching element is on the screen."""
        return self._call("act.scrollTo", {"text": text, "by": by, "device": device, "exactMatch": exact_match, "requestKey": request_key, "session": session, "strict": strict, "then": then, "timeoutMs": timeout_ms}, device=True, session=True, key=True)

    def back(self, *, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Presses the Back key."""
        return self._call("act.back", {"device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def home(self, *, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Presses the Home key."""
        return self._call("act.home", {"device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def key(self, *, device: str | None = None, key: KeyName | None = None, key_code: int | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Presses a key, given by its name or by its numeric code on the device."""
        return self._call("act.key", {"device": device, "key": key, "keyCode": key_code, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def text(self, *, text: Secret, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Types text into the focused field; the text is not stored."""
        return self._call("act.text", {"text": text, "device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def fill(self, *, text: Secret, value: str, by: By | None = None, device: str | None = None, recover: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Fills a field: taps it, deletes its content, types the text, and checks the result."""
        return self._call("act.fill", {"text": text, "value": value, "by": by, "device": device, "recover": recover, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def tab(self, *, tab: str, close: bool | None = None, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Makes a tab of a browser the current one, opens an empty one, or closes one."""
        return self._call("act.tab", {"tab": tab, "close": close, "device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def upload(self, *, files: List[str], value: str, by: By | None = None, device: str | None = None, recover: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Taps an element of a page that asks for files, and gives it files."""
        return self._call("act.upload", {"files": files, "value": value, "by": by, "device": device, "recover": recover, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def page_tool(self, *, tool: str, device: str | None = None, input: dict[str, Any] | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, timeout_ms: int | None = None) -> PageToolResultReply:
        """Calls a tool that the page in a browser publishes for agents, and returns its answer."""
        return self._call("act.pageTool", {"tool": tool, "device": device, "input": input, "requestKey": request_key, "session": session, "strict": strict, "then": then, "timeoutMs": timeout_ms}, device=True, session=True, key=True)

    def launch(self, *, device: str | None = None, name: str | None = None, package: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Launches an app."""
        return self._call("act.launch", {"device": device, "name": name, "package": package, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def stop(self, *, package: str, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Stops an app."""
        return self._call("act.stop", {"package": package, "device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def shell(self, *, command: Secret, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None, timeout_ms: int | None = None) -> ShellResultReply:
        """Runs a command in the device's shell, if the device's settings allow it."""
        return self._call("act.shell", {"command": command, "device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then, "timeoutMs": timeout_ms}, device=True, session=True, key=True)

    def intent(self, *, action: str | None = None, component: str | None = None, data: str | None = None, device: str | None = None, extras: dict[str, Secret] | None = None, package: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Sends an Android intent, if the device's settings allow it."""
        return self._call("act.intent", {"action": action, "component": component, "data": data, "device": device, "extras": extras, "package": package, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def go_to(self, *, address: str | None = None, allow_risky: bool | None = None, app: str | None = None, device: str | None = None, element: str | None = None, explore: int | None = None, goal: str | None = None, max_steps: int | None = None, recover: bool | None = None, request_key: str | None = None, session: str | None = None, state: str | None = None, strict: bool | None = None, text: str | None = None, then: Then | None = None, timeout_ms: int | None = None) -> GoToResultReply:
        """Goes to a page or an element by the way that the memory knows, and checks each step."""
        return self._call("act.goTo", {"address": address, "allowRisky": allow_risky, "app": app, "device": device, "element": element, "explore": explore, "goal": goal, "maxSteps": max_steps, "recover": recover, "requestKey": request_key, "session": session, "state": state, "strict": strict, "text": text, "then": then, "timeoutMs": timeout_ms}, device=True, session=True, key=True)

    def undo(self, *, device: str | None = None, dry_run: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActUndoResultReply:
        """Undoes the last action of the session by what most reliably leads back, and checks it."""
        return self._call("act.undo", {"device": device, "dryRun": dry_run, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def install(self, *, file: str, device: str | None = None, grant: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Installs an app from a file, or replaces it, if the device's settings allow it."""
        return self._call("act.install", {"file": file, "device": device, "grant": grant, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def uninstall(self, *, package: str, device: str | None = None, keep_data: bool | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Uninstalls an app, if the device's settings allow it."""
        return self._call("act.uninstall", {"package": package, "device": device, "keepData": keep_data, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def clear_app(self, *, package: str, device: str | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Stops an app and deletes its data, if the device's settings allow it."""
        return self._call("act.clearApp", {"package": package, "device": device, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def grant(self, *, package: str, permission: str, device: str | None = None, request_key: str | None = None, revoke: bool | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ActResultReply:
        """Gives an app a permission or takes it away, if the device's settings allow it."""
        return self._call("act.grant", {"package": package, "permission": permission, "device": device, "requestKey": request_key, "revoke": revoke, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)

    def configure(self, *, airplane_mode: bool | None = None, dark_mode: bool | None = None, device: str | None = None, locale: str | None = None, locale_app: str | None = None, orientation: Orientation | None = None, request_key: str | None = None, session: str | None = None, strict: bool | None = None, then: Then | None = None) -> ConfigureResultReply:
        """Changes settings of the device: orientation, dark mode, language, airplane mode. Returns what they were before."""
        return self._call("act.configure", {"airplaneMode": airplane_mode, "darkMode": dark_mode, "device": device, "locale": locale, "localeApp": locale_app, "orientation": orientation, "requestKey": request_key, "session": session, "strict": strict, "then": then}, device=True, session=True, key=True)


class ObserveMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def top(self, *, device: str | None = None, session: str | None = None) -> TopReply:
        """Returns the app and activity in the foreground."""
        return self._call("observe.top", {"device": device, "session": session}, device=True, session=True)

    def screen(self, *, artifact_dir: str | None = None, device: str | None = None, fields: List[Column] | None = None, format: ObservationFormat | None = None, full: bool | None = None, hints: HintsWanted | None = None, max_rows: int | None = None, save_file: str | None = None, session: str | None = None, settle: bool | None = None, since: str | None = None, wait_ms: int | None = None) -> ScreenReply:
        """Reads the screen as rows, one per node."""
        return self._call("observe.screen", {"artifactDir": artifact_dir, "device": device, "fields": fields, "format": format, "full": full, "hints": hints, "maxRows": max_rows, "saveFile": save_file, "session": session, "settle": settle, "since": since, "waitMs": wait_ms}, device=True, session=True)

    def refs(self, *, device: str | None = None, format: ObservationFormat | None = None, full: bool | None = None, hints: HintsWanted | None = None, max_rows: int | None = None, session: str | None = None, settle: bool | None = None, since: str | None = None, wait_ms: int | None = None) -> RefsReply:
        """Reads the interactive elements of the screen, each with an alias."""
        return self._call("observe.refs", {"device": device, "format": format, "full": full, "hints": hints, "maxRows": max_rows, "session": session, "settle": settle, "since": since, "waitMs": wait_ms}, device=True, session=True)

    def page(self, *, artifact_dir: str | None = None, device: str | None = None, format: ObservationFormat | None = None, full: bool | None = None, hints: HintsWanted | None = None, include: List[Part] | None = None, max_rows: int | None = None, more: bool | None = None, save_dir: str | None = None, session: str | None = None, settle: bool | None = None, since: str | None = None, wait_ms: int | None = None, whole: bool | None = None, within: str | None = None) -> PageReply:
        """Reads the page: base context, rows, refs, and hints from the memory."""
        return self._call("observe.page", {"artifactDir": artifact_dir, "device": device, "format": format, "full": full, "hints": hints, "include": include, "maxRows": max_rows, "more": more, "saveDir": save_dir, "session": session, "settle": settle, "since": since, "waitMs": wait_ms, "whole": whole, "within": within}, device=True, session=True)

    def text(self, *, device: str | None = None, from_: int | None = None, max_chars: int | None = None, session: str | None = None, wait_ms: int | None = None, within: str | None = None) -> PageTextReply:
        """Reads the text of the page, without aliases: of the whole page in a browser, else of what is in sight."""
        return self._call("observe.text", {"device": device, "from": from_, "maxChars": max_chars, "session": session, "waitMs": wait_ms, "within": within}, device=True, session=True)

    def dump(self, *, content: str, max_rows: int | None = None) -> DumpOutline:
        """Returns the outline of a dump of a screen that the caller has. No device is needed, and nothing is recorded."""
        return self._call("observe.dump", {"content": content, "maxRows": max_rows})

    def last(self, *, device: str | None = None, session: str | None = None) -> LastPageReply:
        """Returns the last observed page of the device, regardless of the observing session, without reading the screen."""
        return self._call("observe.last", {"device": device, "session": session}, device=True, session=True)

    def wait(self, *, device: str | None = None, hints: HintsWanted | None = None, session: str | None = None, text: str | None = None, timeout_ms: int | None = None, until: Until | None = None) -> WaitResultReply:
        """Waits until a condition holds on the screen, without blocking the device for other calls."""
        return self._call("observe.wait", {"device": device, "hints": hints, "session": session, "text": text, "timeoutMs": timeout_ms, "until": until}, device=True, session=True)

    def screenshot(self, *, annotate: bool | None = None, artifact_dir: str | None = None, device: str | None = None, format: PictureFormat | None = None, hide_overlay: bool | None = None, inline: bool | None = None, mark_scope: MarkScope | None = None, max_dim: int | None = None, max_marks: int | None = None, of: str | None = None, quality: int | None = None, save_file: str | None = None, session: str | None = None, whole: bool | None = None) -> ScreenshotReply:
        """Takes a screenshot, optionally with marks on the interactive elements, and saves it to a file."""
        return self._call("observe.screenshot", {"annotate": annotate, "artifactDir": artifact_dir, "device": device, "format": format, "hideOverlay": hide_overlay, "inline": inline, "markScope": mark_scope, "maxDim": max_dim, "maxMarks": max_marks, "of": of, "quality": quality, "saveFile": save_file, "session": session, "whole": whole}, device=True, session=True)

    def overlay_get(self, *, device: str | None = None, session: str | None = None) -> OverlayReply:
        """Returns the state of the overlay that the phone draws on its screen."""
        return self._call("observe.overlayGet", {"device": device, "session": session}, device=True, session=True)

    def overlay_set(self, *, enabled: bool, auto_refresh: bool | None = None, device: str | None = None, mark_scope: MarkScope | None = None, max_marks: int | None = None, offset_x: int | None = None, offset_y: int | None = None, refresh_interval_ms: int | None = None, session: str | None = None, request_key: str | None = None) -> OverlayReply:
        """Shows, changes or hides the overlay that the phone draws on its screen."""
        return self._call("observe.overlaySet", {"enabled": enabled, "autoRefresh": auto_refresh, "device": device, "markScope": mark_scope, "maxMarks": max_marks, "offsetX": offset_x, "offsetY": offset_y, "refreshIntervalMs": refresh_interval_ms, "session": session, "requestKey": request_key}, device=True, session=True, key=True)


class ConfigMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def list(self) -> Settings:
        """Lists all settings with their values and the origins of the values."""
        return self._call("config.list", {})

    def get(self, *, key: str) -> Setting:
        """Returns a setting with its value."""
        return self._call("config.get", {"key": key})

    def set(self, *, key: str, value: Secret, request_key: str | None = None) -> SettingChange:
        """Writes a setting to the configuration file; the change takes effect at once unless it requires a restart."""
        return self._call("config.set", {"key": key, "value": value, "requestKey": request_key}, key=True)

    def unset(self, *, key: str, request_key: str | None = None) -> SettingChange:
        """Removes a setting from the configuration file."""
        return self._call("config.unset", {"key": key, "requestKey": request_key}, key=True)


class DeviceMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def add(self, *, name: str, url: str, attach: str | None = None, check: bool | None = None, kind: str | None = None, persist: bool | None = None, timeout_ms: int | None = None, token: Secret | None = None, request_key: str | None = None) -> AddResult:
        """Adds a device; fails if there is already a device with this name and other settings."""
        return self._call("device.add", {"name": name, "url": url, "attach": attach, "check": check, "kind": kind, "persist": persist, "timeoutMs": timeout_ms, "token": token, "requestKey": request_key}, key=True)

    def list(self) -> Devices:
        """Lists all devices with their states."""
        return self._call("device.list", {})

    def remove(self, *, name: str, request_key: str | None = None) -> RemoveResult:
        """Removes a device, including its entry in the configuration file."""
        return self._call("device.remove", {"name": name, "requestKey": request_key}, key=True)

    def health(self, *, device: str | None = None, session: str | None = None) -> HealthReply:
        """Checks whether the phone's service responds and accepts the token."""
        return self._call("device.health", {"device": device, "session": session}, device=True, session=True)

    def lease(self, *, ttl_ms: int, device: str | None = None, session: str | None = None, until_disconnect: bool | None = None, request_key: str | None = None) -> LeaseResultReply:
        """Reserves the device for the session: other sessions can observe but not act. A repeated call renews the lease."""
        return self._call("device.lease", {"ttlMs": ttl_ms, "device": device, "session": session, "untilDisconnect": until_disconnect, "requestKey": request_key}, device=True, session=True, key=True)

    def release(self, *, device: str | None = None, session: str | None = None, request_key: str | None = None) -> ReleaseResultReply:
        """Releases the session's lease on the device."""
        return self._call("device.release", {"device": device, "session": session, "requestKey": request_key}, device=True, session=True, key=True)

    def packages(self, *, device: str | None = None, filter: str | None = None, include_system: bool | None = None, session: str | None = None) -> PackagesReply:
        """Lists the packages installed on the device."""
        return self._call("device.packages", {"device": device, "filter": filter, "includeSystem": include_system, "session": session}, device=True, session=True)

    def tabs(self, *, device: str | None = None, session: str | None = None) -> DeviceTabListReply:
        """Lists the tabs of a browser."""
        return self._call("device.tabs", {"device": device, "session": session}, device=True, session=True)

    def downloads(self, *, device: str | None = None, session: str | None = None, wait_ms: int | None = None) -> DownloadListReply:
        """Returns the downloads of a browser since the last call, and saves them as artifacts. At most 20 can wait to be returned."""
        return self._call("device.downloads", {"device": device, "session": session, "waitMs": wait_ms}, device=True, session=True)

    def connect_adb(self, *, name: str | None = None, serial: str | None = None, request_key: str | None = None) -> AddResult:
        """Adds an Android phone or emulator that `adb` lists, as a device of the kind `adb`. Nothing is installed on it."""
        return self._call("device.connectAdb", {"name": name, "serial": serial, "requestKey": request_key}, key=True)

    def connect_usb(self, *, local_port: int | None = None, name: str | None = None, print_only: bool | None = None, serial: str | None = None, request_key: str | None = None) -> ConnectUsbResult:
        """Configures a phone attached by USB: finds it with `adb`, forwards a port to its service, and saves the device."""
        return self._call("device.connectUsb", {"localPort": local_port, "name": name, "printOnly": print_only, "serial": serial, "requestKey": request_key}, key=True)

    def log(self, *, app: str | None = None, device: str | None = None, level: LogLevel | None = None, limit: int | None = None, session: str | None = None, since_ms: int | None = None) -> DeviceLogReply:
        """Returns what the device's apps logged, by default since the session's last action. Typed texts are replaced."""
        return self._call("device.log", {"app": app, "device": device, "level": level, "limit": limit, "session": session, "sinceMs": since_ms}, device=True, session=True)

    def start_recording(self, *, device: str | None = None, max_ms: int | None = None, session: str | None = None, request_key: str | None = None) -> RecordingStartedReply:
        """Starts a recording of the screen. One recording at a time; it ends after `maxMs` at the latest."""
        return self._call("device.startRecording", {"device": device, "maxMs": max_ms, "session": session, "requestKey": request_key}, device=True, session=True, key=True)

    def stop_recording(self, *, device: str | None = None, save_file: str | None = None, session: str | None = None, request_key: str | None = None) -> RecordingSavedReply:
        """Ends the recording of the screen, and saves the video as an artifact."""
        return self._call("device.stopRecording", {"device": device, "saveFile": save_file, "session": session, "requestKey": request_key}, device=True, session=True, key=True)


class DaemonMethods:
    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def version(self) -> DaemonVersion:
        """Returns the version, the protocol version and the capabilities of the daemon."""
        return self._call("daemon.version", {})

    def status(self) -> DaemonStatus:
        """Returns the status of the daemon, its devices and its database."""
        return self._call("daemon.status", {})

    def metrics(self) -> Metrics:
        """Returns call statistics by method, and all metrics in the Prometheus text format."""
        return self._call("daemon.metrics", {})

    def methods(self) -> MethodList:
        """Lists all methods with their common parameters and possible errors."""
        return self._call("daemon.methods", {})

    def reload(self, *, request_key: str | None = None) -> ReloadResult:
        """Reloads the configuration file; if it is invalid, nothing changes."""
        return self._call("daemon.reload", {"requestKey": request_key}, key=True)

    def shutdown(self, *, request_key: str | None = None) -> ShutdownResult:
        """Stops the daemon after finishing the calls in progress."""
        return self._call("daemon.shutdown", {"requestKey": request_key}, key=True)

    def doctor(self) -> Diagnosis:
        """Checks database, backups, disk, settings, devices, clock and leftover files; reads screens but changes nothing."""
        return self._call("daemon.doctor", {})


class Api:
    """All methods, by namespace."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.daemon = DaemonMethods(call)
        self.device = DeviceMethods(call)
        self.config = ConfigMethods(call)
        self.observe = ObserveMethods(call)
        self.act = ActMethods(call)
        self.verify = VerifyMethods(call)
        self.recover = RecoverMethods(call)
        self.memory = MemoryMethods(call)
        self.artifact = ArtifactMethods(call)
        self.visual = VisualMethods(call)
        self.session = SessionMethods(call)
        self.conversation = ConversationMethods(call)
        self.pattern = PatternMethods(call)
        self.page_model = PageModelMethods(call)
        self.recall = RecallMethods(call)
        self.model = ModelMethods(call)
        self.job = JobMethods(call)
        self.backup = BackupMethods(call)

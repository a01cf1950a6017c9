import pytest

from tests.apcore.discovery.foretelling.samples import EXECUTE, SCHEMAS, class_text

WORKER = class_text("Worker", "", SCHEMAS, EXECUTE)


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "raise RuntimeError('not today')",
        "print('imported')",
        "sys.modules['a_mark'] = True",
        "sys.a_mark = 1\nbuiltins.a_mark = [1]\ndel_me = builtins.a_mark\ndel_me.append('x')",
        "os.environ['A_MARK'] = str(int(os.environ.get('A_MARK', '0')) + 1)",
        "_helpers.LOADED.append(__name__)\n_helpers.NUMBER += 1\n_helpers.LOADED[:] = []",
        "unchanged('x')\n_private = unchanged(3)",
        "with open(__file__, encoding='utf-8') as file:\n    CONTENT = file.read()",
        "HERE = Path(__file__).parent / 'x'\nTEXT = f'{HERE.name!r:>{10}}'",
        "logger = logging.getLogger(__name__)\nlogger.info('loaded %s', __name__)",
        "PATTERN = re.compile(r'a|b', re.IGNORECASE)\nNOTHING = not PATTERN",
        "NUMBERS = [each * 2 for each in range(3) if each]\nNAMES = {key: 1 for key in ('a', 'b')}",
        "Json = dict[str, int] | None\nEither = typing.Union[int, str]\nT = typing.TypeVar('T')",
        "try:\n    import no_such_module as fast\nexcept ImportError as error:\n    fast = None\nelse:\n    pass",
        "COUNT = 0\nCOUNT += 1\nIS_BIG = COUNT > 3 and True\nSIGN = -1 if IS_BIG else 1",
        "def helper(a=len('x')): ...\n\nhelper.tags = ()\nHANDLERS = {'a': helper, 'b': lambda: 1}",
        "def helper(): ...\n\nhelper()\n_made = helper()",
        "for each in (1, 2):\n    _helpers.LOADED.append(each)",
        "FIRST, *REST = (1, 2)\nONE = OTHER = FIRST",
    ],
)
def test_what_has_no_part_in_modules_is_no_obstacle(told, text):
    assert told(f"{text}\n{WORKER}") == ["m"]


@pytest.mark.parametrize(
    "text",
    [
        "made = _helpers.make('x')",
        "made = make('x') if _helpers.NUMBER else None",
        "made = functools.reduce(tool, [1])",
        "made = getattr(_helpers, 'shared')",
        "made = (lambda: make('x'))()",
        "made = (second := make('x'))",
        "made = type('Made', (Base,), {})",
        "made = sys.modules['builtins'].__import__('x')\nlist(map(tool, [print]))",
        "made = sys.modules['apcore'].module(lambda a: a)",
        "made = __import__('apcore').module(lambda a: a)",
        "import importlib\nmade = importlib.import_module('json')",
        "class Service:\n    def make(self): ...\n\nmade = Service().make()",
        "unchanged(print)",
        "CLASSES = [Worker]",
        "[unchanged(each) for each in _helpers.LOADED]",
        "exec('made = 1')",
        "def send(a: int) -> int: ...\n\nfor _each in [send]:\n    tool(_each)",
        "def send(a: int) -> int: ...\n\n[tool(each) for each in (send,)]",
        "for _each in (print, len):\n    tool(_each)",
        "_part = functools.partial(print)\ntool(_part)",
    ],
)
def test_what_may_have_one_is_looked_at(told, text):
    assert told(f"{WORKER}\n{text}") is None

"""Print the flag names of an engine version, for src/engines/<engine>/flags.fixture.ts.

Usage: python3 scripts/engine-flags.py vllm|sglang|llama|infinity FOLDER

FOLDER is the unpacked package of that version: the source package of vLLM, the folder `sglang` of its wheel, the sources of
llama.cpp, the wheel of Infinity. Sources are parsed, never imported.
"""

import re,sys,glob,ast,os
def vllm(root):
    flags=set(); bools=set()
    # bool fields of config dataclasses and EngineArgs
    for f in glob.glob(root+'/vllm/config/*.py')+[root+'/vllm/engine/arg_utils.py']:
        for node in ast.walk(ast.parse(open(f).read())):
            if isinstance(node,ast.ClassDef):
                for s in node.body:
                    if isinstance(s,ast.AnnAssign) and isinstance(s.target,ast.Name):
                        t=ast.unparse(s.annotation)
                        if re.fullmatch(r'(SkipValidation\[)?(Optional\[)?bool( \| None)?\]*(\]| \| None)?',t): bools.add(s.target.id)
    src=open(root+'/vllm/engine/arg_utils.py').read()
    for node in ast.walk(ast.parse(src)):
        if isinstance(node,ast.Call) and isinstance(node.func,ast.Attribute) and node.func.attr=='add_argument':
            names=[a.value for a in node.args if isinstance(a,ast.Constant) and str(a.value).startswith('--')]
            flags.update(names)
            text=ast.unparse(node)
            m=re.search(r"_kwargs\['(\w+)'\]",text)
            if m and m.group(1) in bools or 'BooleanOptionalAction' in text: flags.update('--no-'+n[2:] for n in names)
    for p in ('vllm/entrypoints/openai/cli_args.py','vllm/entrypoints/launchers/cli_args.py'):
        if not os.path.exists(root+'/'+p): continue
        for node in ast.walk(ast.parse(open(root+'/'+p).read())):
            if isinstance(node,ast.ClassDef) and node.name.endswith('FrontendArgs'):
                for s in node.body:
                    if isinstance(s,ast.AnnAssign):
                        n='--'+s.target.id.replace('_','-'); flags.add(n)
                        if 'bool' in ast.unparse(s.annotation): flags.add('--no-'+n[2:])
            if isinstance(node,ast.Call) and isinstance(node.func,ast.Attribute) and node.func.attr=='add_argument':
                flags.update(a.value for a in node.args if isinstance(a,ast.Constant) and str(a.value).startswith('--'))
    return flags
def sglang(root):
    flags=set()
    for f in [root+'/srt/server_args.py']+glob.glob(root+'/srt/arg_groups/fields/*.py'):
        for node in ast.walk(ast.parse(open(f).read())):
            if isinstance(node,ast.Call) and isinstance(node.func,ast.Attribute) and node.func.attr=='add_argument':
                flags.update(a.value for a in node.args if isinstance(a,ast.Constant) and str(a.value).startswith('--'))
            if isinstance(node,ast.AnnAssign) and isinstance(node.target,ast.Name) and ast.unparse(node.annotation).startswith('A['):
                t=ast.unparse(node.annotation)
                if 'no_cli=True' in t: continue
                m=re.search(r"cli_name='(--[\w-]+)'",t)
                flags.add(m.group(1) if m else '--'+node.target.id.replace('_','-'))
                m=re.search(r"aliases=\[([^\]]*)\]",t)
                if m: flags.update(re.findall(r"'(--[\w-]+)'",m.group(1)))
    return flags
def llama(root):
    s=open(root+'/common/arg.cpp').read()
    flags=set()
    for part in re.split(r'add_opt\(common_arg\(',s)[1:]:
        ex=re.search(r'set_examples\(\{([^}]*)\}\)',part)
        if ex and not re.search(r'COMMON|SERVER',ex.group(1)): continue
        if re.search(r'set_excludes\(\{[^}]*LLAMA_EXAMPLE_SERVER',part): continue
        m=re.match(r'\s*((?:\{[^}]*\}\s*,\s*)+)',part)
        if m is None: print('skip',repr(part[:80]),file=sys.stderr); continue
        flags.update(re.findall(r'"(--[\w-]+)"',m.group(1)))
    return flags
def infinity(root):
    flags=set()
    s=open(root+'/infinity_emb/cli.py').read()
    t=ast.parse(s)
    for node in ast.walk(t):
        if isinstance(node,ast.FunctionDef) and node.name=='v2':
            for a in node.args.args:
                n='--'+a.arg.replace('_','-'); flags.add(n)
                if 'bool' in ast.unparse(a.annotation): flags.add('--no-'+n[2:])
    return flags
K=dict(vllm=vllm,sglang=sglang,llama=llama,infinity=infinity)
if __name__=='__main__':
    for f in sorted(K[sys.argv[1]](sys.argv[2])): print(f)

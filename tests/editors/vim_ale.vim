function! LoopLsRoot(buffer) abort
  let l:settings = ale#path#FindNearestFile(a:buffer, '.loop-ls.yaml')
  return empty(l:settings) ? fnamemodify(bufname(a:buffer), ':p:h') : fnamemodify(l:settings, ':p:h')
endfunction

let g:ale_linters = {'yaml': ['loop_ls']}
let g:ale_virtualtext_cursor = 2
let g:ale_lsp_show_message_severity = 'information' " questions of loops, and where transcripts are
set omnifunc=ale#completion#OmniFunc
packadd! ale
filetype plugin on
call ale#linter#Define('yaml', {
\   'name': 'loop_ls',
\   'lsp': 'stdio',
\   'executable': 'loop-ls',
\   'command': '%e serve',
\   'project_root': function('LoopLsRoot'),
\})
" ALE draws no lenses: on a loop, :ALECodeAction runs it, stops it, answers it and opens what it wrote
nnoremap <leader>l :ALECodeAction<CR>
